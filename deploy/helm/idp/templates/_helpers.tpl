{{- define "idp.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "idp.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "idp.labels" -}}
{{ include "idp.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end -}}

{{- define "idp.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "idp.env" -}}
- name: IDP_ISSUER
  value: {{ .Values.issuer | quote }}
- name: IDP_SHUTDOWN_DELAY_SECONDS
  value: {{ .Values.shutdownDelaySeconds | quote }}
- name: IDP_DRAIN_SECONDS
  value: {{ .Values.drainSeconds | quote }}
- name: IDP_MASTER_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.masterKey.secret.name }}
      key: {{ .Values.masterKey.secret.key }}
{{- if eq .Values.store.kind "mongodb" }}
- name: IDP_STORE
  valueFrom:
    secretKeyRef:
      name: {{ .Values.store.mongodb.secret.name }}
      key: {{ .Values.store.mongodb.secret.key }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ printf "IDP_%s" (upper $name) }}
  value: {{ include "idp.setting" $value | quote }}
{{- end }}
{{- end -}}

{{/* Whole numbers beyond a million are floating point in values: 1e+06 is no setting. */}}
{{- define "idp.setting" -}}
{{- if kindIs "slice" . -}}{{- join "," . -}}
{{- else if kindIs "float64" . -}}{{- int64 . -}}
{{- else -}}{{- toString . -}}
{{- end -}}
{{- end -}}

{{- define "idp.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "idp.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "idp.mounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "idp.volumes" -}}
- name: data
{{- if eq .Values.store.kind "sqlite" }}
  persistentVolumeClaim:
    claimName: {{ .Values.store.sqlite.claim }}
{{- else }}
  emptyDir: {}
{{- end }}
- name: tmp
  emptyDir: {}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "idp.nodes" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "idp.placement" -}}
{{ include "idp.nodes" . }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A Job that runs a command of the service once, at a hook: a dict of root, name, hook and args. */}}
{{- define "idp.job" -}}
{{- $ := .root -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "idp.fullname" $ }}-{{ .name }}
  labels:
    {{- include "idp.labels" $ | nindent 4 }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  backoffLimit: 3
  ttlSecondsAfterFinished: 3600
  template:
    metadata:
      labels:
        {{- include "idp.labels" $ | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        {{- include "idp.podSecurity" $ | nindent 8 }}
      containers:
        - name: {{ .name }}
          image: {{ include "idp.image" $ | quote }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
          args: {{ toJson .args }}
          env:
            {{- include "idp.env" $ | nindent 12 }}
          resources:
            {{- toYaml $.Values.resources | nindent 12 }}
          securityContext:
            {{- include "idp.containerSecurity" $ | nindent 12 }}
          volumeMounts:
            {{- include "idp.mounts" $ | nindent 12 }}
      volumes:
        {{- include "idp.volumes" $ | nindent 8 }}
      {{- include "idp.placement" $ | nindent 6 }}
{{- end -}}
