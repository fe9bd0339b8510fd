#!/usr/bin/env bash
# Two clusters with real API servers, one of which dies: the application moves with its ConfigMap, its Secret and an object of a custom
# kind, and what it left behind is removed when the cluster is back. The hub acts for east by itself (push mode), and west has an agent (pull mode). Needs leewardd,
# leeward, leeward-agent and kubectl on the path, and nothing else. The API servers of both clusters are leewardd, too, without anything to decide; a loop below sets statuses in place of kubelets. With
# ordinary clusters only the kubeconfig files differ: docs/agents.md.
set -euo pipefail
cd "$(dirname "$0")"

folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
run() { printf '\n$ %s\n' "$*"; "$@"; }
at() { kubectl --kubeconfig "$folder/$1/kubeconfig" "${@:2}"; }
await_api() {
  for _ in {1..300}; do
    at "$1" get --raw /readyz >/dev/null 2>&1 && return
    sleep 0.1
  done
  cat "$folder/$1.log"
  return 1
}

# serve NAME PORT [FLAG...] runs an API server; its data survives it.
serve() { exec leewardd --data-dir "$folder/$1" --secure-port "$2" "${@:3}" >>"$folder/$1.out" 2>>"$folder/$1.log"; }

# play_kubelets NAME says of each Deployment that its replicas are available, as long as the API server lives.
play_kubelets() {
  at "$1" get deployments -A -w -o jsonpath='{.metadata.namespace} {.metadata.name} {.metadata.generation} {.spec.replicas} {.status.observedGeneration}{"\n"}' 2>/dev/null |
    while read -r namespace name generation replicas seen; do
      [ "$seen" = "$generation" ] || at "$1" patch deployment "$name" -n "$namespace" --subresource=status --type=merge -p "{\"status\":{
        \"observedGeneration\":$generation,\"replicas\":$replicas,\"updatedReplicas\":$replicas,\"readyReplicas\":$replicas,\"availableReplicas\":$replicas}}" >/dev/null 2>&1 || true
    done
}

serve hub 0 --cluster-status-update-frequency 1s --cluster-failure-threshold 2s --cluster-success-threshold 1s &
serve east 0 &
east=$!
serve west 0 &
for name in hub east west; do await_api "$name"; done
play_kubelets east &
play_kubelets west &
export KUBECONFIG=$folder/hub/kubeconfig

# East joins with its credentials. West is registered, and runs an agent.
run leeward join east --cluster-kubeconfig "$folder/east/kubeconfig"
kubectl create -f - <<END
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: west}
spec: {syncMode: Pull}
END
hub=$(kubectl config view -o jsonpath='{.clusters[0].cluster.server}')
leewardd kubeconfig --data-dir "$folder/hub" --server "${hub#https://}" --agent west >"$folder/west.agent"
leeward-agent --cluster west --hub-kubeconfig "$folder/west.agent" --kubeconfig "$folder/west/kubeconfig" --listen "" \
  --heartbeat 1s --failure-threshold 2s --success-threshold 1s 2>"$folder/west.agent.log" &
run kubectl wait --for=condition=Ready cluster --all --timeout=30s

run kubectl apply -f taint-policy.yaml -f shop.yaml -f topic.yaml
run kubectl wait --for=condition=Established crd/topics.example.com --timeout=60s
run kubectl apply -f orders.yaml
run kubectl wait -n shop --for=condition=FullyApplied rb/shop-deployment --timeout=60s
run kubectl rollout status -n shop deployment/shop --timeout=60s
run kubectl wait -n shop --for=condition=FullyApplied rb/orders-topic --timeout=60s
run at east get deployments,configmaps,secrets,topics -n shop

# From here on nothing answers in east.
kill -9 "$east"
run kubectl wait --for=condition=Ready=False cluster/east --timeout=60s
run kubectl wait -n shop --for=jsonpath='{.spec.clusters[0].name}'=west rb/shop-deployment --timeout=60s
run at west wait --for=create namespace/shop --timeout=60s
for object in deployment/shop configmap/settings secret/password topic/orders; do run at west wait -n shop --for=create "$object" --timeout=60s; done
run kubectl wait -n shop --for=jsonpath='{.status.failoverHistory[0].outcome}'=healthy rb/shop-deployment --timeout=60s

# East is back, and what moved is removed there.
port=$(at east config view -o jsonpath='{.clusters[0].cluster.server}')
serve east "${port##*:}" &
await_api east
run at east wait -n shop --for=delete deployment/shop configmap/settings secret/password topic/orders --timeout=60s
run kubectl wait --for=condition=Ready cluster/east --timeout=60s
kubectl get works -n karmada-es-east -o name | sed '/topics.example.com/d' | xargs -r kubectl wait --for=delete -n karmada-es-east --timeout=60s
run kubectl get clusters
run kubectl get works -A

# Nothing is orphaned: every object that an agent applied is of a Work that exists.
for name in east west; do
  at "$name" get deployments,configmaps,secrets,topics -A -l karmada.io/managed=true -o jsonpath='{range .items[*]}{.metadata.annotations.work\.karmada\.io/namespace} {.metadata.annotations.work\.karmada\.io/name}{"\n"}{end}' |
    while read -r namespace work; do kubectl get work -n "$namespace" "$work" -o name; done
done
[ "$(at east get deployments,configmaps,secrets,topics -A -l karmada.io/managed=true -o name | wc -l)" = 0 ]
[ "$(at west get deployments,configmaps,secrets,topics -A -l karmada.io/managed=true -o name | wc -l)" = 4 ]

# East leaves: its credentials and its namespace at the hub go with it.
run leeward unjoin east --timeout 60s
[ "$(kubectl get secrets,leases,works -A -o name | grep -c east || true)" = 0 ]
