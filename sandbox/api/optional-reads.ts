/** The optional reads of both APIs, by the names of their operations. The contract has none of them. */
export const CLOUD_READS = [
  ...(['list organizations', 'get organization', 'whoami', 'get key', 'list quotas'] as const),
  ...(['list services', 'get service', 'scaling schedule', 'upgrade window'] as const),
  ...(['list backups', 'backup configuration', 'list endpoints', 'get endpoint'] as const),
  ...(['list pipes', 'get pipe', 'list activities', 'get activity'] as const),
] as const;
export type CloudRead = (typeof CLOUD_READS)[number];

export const ALERT_READS = [
  ...(['list webhooks', 'list saved searches', 'get saved search'] as const),
  ...(['list dashboards', 'get dashboard', 'get team'] as const),
] as const;
export type AlertRead = (typeof ALERT_READS)[number];
