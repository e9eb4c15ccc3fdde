# An example that installs the Helm chart and its Secret: docs/shipping.md#terraform-and-opentofu. It was never applied: run
# `tofu validate` and `tofu plan` first, and edit the names of the cluster, the database and the addresses.
terraform {
  required_version = ">= 1.6"
  required_providers {
    helm       = { source = "hashicorp/helm", version = "~> 2.17" }
    kubernetes = { source = "hashicorp/kubernetes", version = "~> 2.36" }
    random     = { source = "hashicorp/random", version = "~> 3.7" }
  }
}

# Values that a person creates in Slack and in the cloud console.
variable "secrets" {
  description = "slack-bot-token, slack-app-token, cloud-api-key-id, cloud-api-key-secret, database-url"
  type        = map(string)
  sensitive   = true
}

resource "kubernetes_namespace" "signalbox" {
  metadata {
    name   = "signalbox"
    labels = { "pod-security.kubernetes.io/enforce" = "restricted" }
  }
}

# 32 bytes for SIGNALBOX_KEY. It is in the state file: encrypt the state, and store the key apart from the
# database as well.
resource "random_bytes" "signalbox_key" {
  length = 32
  lifecycle {
    prevent_destroy = true
  }
}

resource "kubernetes_secret" "signalbox" {
  metadata {
    name      = "signalbox"
    namespace = kubernetes_namespace.signalbox.metadata[0].name
  }
  data = merge(var.secrets, { "signalbox-key" = random_bytes.signalbox_key.base64 })
}

resource "helm_release" "signalbox" {
  name      = "signalbox"
  namespace = kubernetes_namespace.signalbox.metadata[0].name
  chart     = "${path.module}/../helm/signalbox"
  # A policy that cannot start fails the apply, and the previous release stays.
  atomic  = true
  timeout = 600

  values = [yamlencode({
    image          = { repository = "registry.example.com/signalbox" }
    cloudApiUrl    = "https://cloud.example.com"
    config         = file("${path.module}/signalbox.yaml")
    serviceMonitor = { enabled = true }
    prometheusRule = { enabled = true }
  })]

  depends_on = [kubernetes_secret.signalbox]
}
