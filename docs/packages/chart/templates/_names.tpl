{{- define "leeward.labels" -}}
app.kubernetes.io/name: {{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}
{{- define "leeward.pod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}
{{- define "leeward.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
{{- define "leeward.claim" -}}
accessModes: [ReadWriteOnce]
resources: {requests: {storage: {{ .size }}}}
{{- with .className }}
storageClassName: {{ . }}
{{- end }}
{{- end }}
