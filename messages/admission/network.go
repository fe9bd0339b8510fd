package admission

import (
	"net/netip"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Source of this file: Kubernetes, pkg/apis/networking/validation, which no library offers.

var pathTypes = []networkingv1.PathType{networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific}

// validateIngress wants hosts that are names, absolute paths, and backends that can be.
func validateIngress(s *networkingv1.IngressSpec, spec *field.Path) (errs field.ErrorList) {
	if s.DefaultBackend != nil {
		errs = validateBackend(s.DefaultBackend, spec.Child("defaultBackend"))
	}
	for i := range s.Rules {
		rule, at := &s.Rules[i], spec.Child("rules").Index(i)
		errs = append(errs, validateHost(rule.Host, at.Child("host"))...)
		if rule.HTTP != nil {
			errs = append(errs, each(rule.HTTP.Paths, at.Child("http", "paths"), validatePath)...)
		}
	}
	for i := range s.TLS {
		at := spec.Child("tls").Index(i)
		for j, host := range s.TLS[i].Hosts {
			errs = append(errs, validateHost(host, at.Child("hosts").Index(j))...)
		}
		if name := s.TLS[i].SecretName; name != "" {
			errs = append(errs, invalid(name, apivalidation.NameIsDNSSubdomain(name, false), at.Child("secretName"))...)
		}
	}
	return errs
}

func validateHost(host string, at *field.Path) field.ErrorList {
	switch _, err := netip.ParseAddr(host); {
	case host == "":
		return nil
	case err == nil:
		return field.ErrorList{field.Invalid(at, host, "must be a DNS name, not an IP address")}
	case strings.Contains(host, "*"):
		return invalid(host, validation.IsWildcardDNS1123Subdomain(host), at)
	}
	return invalid(host, validation.IsDNS1123Subdomain(host), at)
}

func validatePath(p *networkingv1.HTTPIngressPath, at *field.Path) field.ErrorList {
	errs := validateBackend(&p.Backend, at.Child("backend"))
	if kind := p.PathType; kind != nil {
		errs = append(errs, oneOf(*kind, pathTypes, at.Child("pathType"))...)
	}
	if p.Path != "" && !strings.HasPrefix(p.Path, "/") {
		errs = append(errs, field.Invalid(at.Child("path"), p.Path, "must be an absolute path"))
	}
	return errs
}

func validateBackend(b *networkingv1.IngressBackend, at *field.Path) field.ErrorList {
	if b.Service == nil {
		return nil
	}
	if b.Resource != nil {
		return field.ErrorList{field.Forbidden(at.Child("resource"), "service and resource cannot be both set")}
	}
	port, service := &b.Service.Port, at.Child("service", "port")
	switch {
	case port.Name != "" && port.Number != 0:
		return field.ErrorList{field.Forbidden(service.Child("number"), "name and number cannot be both set")}
	case port.Name != "":
		return invalid(port.Name, validation.IsValidPortName(port.Name), service.Child("name"))
	case port.Number != 0:
		return validatePortNumber(port.Number, service.Child("number"))
	}
	return nil
}

func validatePortNumber(n int32, at *field.Path) field.ErrorList {
	return invalid(n, validation.IsValidPortNum(int(n)), at)
}

// requireIngress wants what an Ingress leads nowhere without.
func requireIngress(s *networkingv1.IngressSpec, spec *field.Path) (errs field.ErrorList) {
	if len(s.Rules) == 0 && s.DefaultBackend == nil {
		errs = append(errs, field.Required(spec.Child("rules"), "unless there is a defaultBackend"))
	}
	if s.DefaultBackend != nil {
		errs = append(errs, requireBackend(s.DefaultBackend, spec.Child("defaultBackend"))...)
	}
	for i := range s.Rules {
		if s.Rules[i].HTTP == nil {
			continue
		}
		for j := range s.Rules[i].HTTP.Paths {
			p, at := &s.Rules[i].HTTP.Paths[j], spec.Child("rules").Index(i).Child("http", "paths").Index(j)
			errs = append(errs, requireBackend(&p.Backend, at.Child("backend"))...)
			switch {
			case p.PathType == nil:
				errs = append(errs, field.Required(at.Child("pathType"), ""))
			case *p.PathType != networkingv1.PathTypeImplementationSpecific:
				errs = append(errs, required(p.Path, at.Child("path"))...)
			}
		}
	}
	return errs
}

func requireBackend(b *networkingv1.IngressBackend, at *field.Path) field.ErrorList {
	switch {
	case b.Service == nil && b.Resource == nil:
		return field.ErrorList{field.Required(at, "a service or a resource")}
	case b.Service == nil:
		return append(required(b.Resource.Kind, at.Child("resource", "kind")), required(b.Resource.Name, at.Child("resource", "name"))...)
	}
	errs := required(b.Service.Name, at.Child("service", "name"))
	if b.Service.Port == (networkingv1.ServiceBackendPort{}) {
		errs = append(errs, field.Required(at.Child("service", "port"), "a name or a number"))
	}
	return errs
}

// requireIngressClass wants a class to say which controller it is of.
func requireIngressClass(s *networkingv1.IngressClassSpec, spec *field.Path) field.ErrorList {
	errs := validation.IsDomainPrefixedPath(spec.Child("controller"), s.Controller)
	if p := s.Parameters; p != nil {
		at := spec.Child("parameters")
		errs = slices.Concat(errs, required(p.Kind, at.Child("kind")), required(p.Name, at.Child("name")),
			oneOf(ptr.Deref(p.Scope, ""), []string{networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace}, at.Child("scope")))
	}
	return errs
}

var policyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}

// validateNetworkPolicy wants selectors, ports and blocks of addresses that can be.
func validateNetworkPolicy(s *networkingv1.NetworkPolicySpec, spec *field.Path) field.ErrorList {
	errs := labelSelector(&s.PodSelector, spec.Child("podSelector"))
	for i := range s.Ingress {
		at := spec.Child("ingress").Index(i)
		errs = slices.Concat(errs, validatePolicyPorts(s.Ingress[i].Ports, at.Child("ports")), validatePeers(s.Ingress[i].From, at.Child("from")))
	}
	for i := range s.Egress {
		at := spec.Child("egress").Index(i)
		errs = slices.Concat(errs, validatePolicyPorts(s.Egress[i].Ports, at.Child("ports")), validatePeers(s.Egress[i].To, at.Child("to")))
	}
	for i, t := range s.PolicyTypes {
		errs = append(errs, requiredOneOf(t, policyTypes, spec.Child("policyTypes").Index(i))...)
	}
	return errs
}

func validatePolicyPorts(ports []networkingv1.NetworkPolicyPort, path *field.Path) (errs field.ErrorList) {
	for i := range ports {
		p, at := &ports[i], path.Index(i)
		errs = append(errs, oneOf(ptr.Deref(p.Protocol, ""), protocols, at.Child("protocol"))...)
		end := at.Child("endPort")
		switch {
		case p.Port != nil && p.Port.Type == intstr.Int:
			errs = append(errs, validatePortNumber(p.Port.IntVal, at.Child("port"))...)
			if p.EndPort != nil && *p.EndPort < p.Port.IntVal {
				errs = append(errs, field.Invalid(end, *p.EndPort, "must be no less than port"))
			}
		case p.EndPort != nil:
			errs = append(errs, field.Forbidden(end, "port is no number"))
		case p.Port != nil:
			errs = append(errs, invalid(p.Port.StrVal, validation.IsValidPortName(p.Port.StrVal), at.Child("port"))...)
		}
		if p.EndPort != nil {
			errs = append(errs, validatePortNumber(*p.EndPort, end)...)
		}
	}
	return errs
}

func validatePeers(peers []networkingv1.NetworkPolicyPeer, path *field.Path) (errs field.ErrorList) {
	for i := range peers {
		p, at := &peers[i], path.Index(i)
		errs = slices.Concat(errs, labelSelector(p.PodSelector, at.Child("podSelector")), labelSelector(p.NamespaceSelector, at.Child("namespaceSelector")))
		switch selects := p.PodSelector != nil || p.NamespaceSelector != nil; {
		case p.IPBlock == nil && !selects:
			errs = append(errs, field.Required(at, "a selector or an ipBlock"))
		case p.IPBlock != nil && selects:
			errs = append(errs, field.Forbidden(at.Child("ipBlock"), "selectors and ipBlock cannot be both set"))
		case p.IPBlock != nil:
			errs = append(errs, validateBlock(p.IPBlock, at.Child("ipBlock"))...)
		}
	}
	return errs
}

// validateBlock wants a block of addresses, and parts of it that it does without.
func validateBlock(b *networkingv1.IPBlock, at *field.Path) (errs field.ErrorList) {
	whole, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		return field.ErrorList{field.Invalid(at.Child("cidr"), b.CIDR, "must be a block of addresses such as 10.0.0.0/8")}
	}
	for i, text := range b.Except {
		part, err := netip.ParsePrefix(text)
		if err != nil || !whole.Contains(part.Addr()) || part.Bits() <= whole.Bits() {
			errs = append(errs, field.Invalid(at.Child("except").Index(i), text, "must be a part of cidr"))
		}
	}
	return errs
}

// defaultNetworkPolicy says what a policy is about. Source: Kubernetes, pkg/apis/networking/v1.
func defaultNetworkPolicy(s *networkingv1.NetworkPolicySpec) {
	if len(s.PolicyTypes) > 0 {
		return
	}
	s.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	if len(s.Egress) > 0 {
		s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeEgress)
	}
}
