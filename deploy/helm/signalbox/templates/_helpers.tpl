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
DATABASE_URL: database-url
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
