/**
 * The optional reads of both APIs, by the names of their operations. The contract has none of them, and
 * the simulators have those that Signalbox uses.
 */
export const CLOUD_READS = [
  ...(['list organizations', 'get key', 'list services', 'get service'] as const),
  ...(['scaling schedule', 'list backups', 'list endpoints', 'get endpoint'] as const),
  ...(['list pipes', 'list activities'] as const),
] as const;
export type CloudRead = (typeof CLOUD_READS)[number];

export const ALERT_READS = ['list webhooks', 'list saved searches', 'list dashboards'] as const;
export type AlertRead = (typeof ALERT_READS)[number];
