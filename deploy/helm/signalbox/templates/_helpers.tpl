{{- define "signalbox.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "signalbox.selector" -}}
app.kubernetes.io/name: signalbox
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "signalbox.labels" -}}
{{ include "signalbox.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The variables that come from files of the Secret, and the names of these files. */}}
{{- define "signalbox.secretFiles" -}}
{{- if not .Values.sqlite.enabled }}
DATABASE_URL: database-url
{{- end }}
SLACK_BOT_TOKEN: slack-bot-token
{{- if eq .Values.slackMode "http" }}
SLACK_SIGNING_SECRET: slack-signing-secret
{{- else }}
SLACK_APP_TOKEN: slack-app-token
{{- end }}
CLOUD_API_KEY_ID: cloud-api-key-id
CLOUD_API_KEY_SECRET: cloud-api-key-secret
SIGNALBOX_KEY: signalbox-key
{{- if .Values.alertsApiUrl }}
ALERTS_API_TOKEN: alerts-api-token
{{- end }}
{{- if .Values.secret.previousKeys }}
SIGNALBOX_PREVIOUS_KEYS: signalbox-previous-keys
{{- end }}
{{- end }}

{{/* The database of SQLite; that of PostgreSQL is a file of the Secret. */}}
{{- define "signalbox.database" -}}
{{- if .Values.sqlite.enabled -}}
- { name: DATABASE_URL, value: 'file:/data/signalbox.db' }
{{- else -}}
- { name: DATABASE_URL_FILE, value: /run/secrets/signalbox/database-url }
{{- end -}}
{{- end }}

{{/* The pod of a CronJob. Its volume of SQLite can be mounted on the node of the bot only. */}}
{{- define "signalbox.jobPod" -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .Values.sqlite.enabled }}
affinity:
  podAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "signalbox.selector" . | nindent 12 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* The rights of each container. */}}
{{- define "signalbox.rights" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
