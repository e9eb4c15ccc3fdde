import { type AlertRecord, type AlertsState, updated } from './state.ts';

const WINDOW_MS = 5 * 60_000;
const COMPARATORS: Readonly<Record<string, string>> = {
  above: '>',
  below: '<',
  between: 'between',
};

/** Changes the state of an alert and delivers the webhook, with the body template of docs/alerts.md. */
export async function turnAlert(
  state: AlertsState,
  id: string,
  to: 'firing' | 'resolved',
): Promise<number | null> {
  const alert = state.alerts.get(id);
  if (!alert) return null;
  const now = state.now();
  state.alerts.set(id, updated(alert, { state: to === 'firing' ? 'ALERT' : 'OK' }, now));
  if (state.webhookUrl === null) return null;
  const body = JSON.stringify(bodyOf(alert, to, now));
  const headers = { 'content-type': 'application/json' };
  const sent = fetch(state.webhookUrl, { method: 'POST', headers, body });
  return sent.then(
    ({ status }) => status,
    () => null,
  );
}

/** As live servers fill in a template whose values are all in quotes: what an alert does not have is empty. */
function bodyOf({ id, name, threshold, ...alert }: AlertRecord, status: string, now: Date) {
  const isAbove = alert.thresholdType !== 'below';
  const over = Math.round(threshold + (isAbove ? 1 : -1) * Math.abs(threshold) * 0.4);
  return {
    ...{ alert: id, event: `${id}-1`, status, title: name ?? '' },
    ...{ state: status === 'firing' ? 'ALERT' : 'OK', service: '' },
    // The value of the first column by which the alert is grouped.
    group: alert.groupBy?.startsWith('database') ? 'analytics-prod, etl' : '',
    value: String(status === 'firing' ? over : Math.round(threshold - (over - threshold))),
    comparator: COMPARATORS[alert.thresholdType] ?? '',
    threshold: String(threshold),
    thresholdMax: alert.thresholdMax === undefined ? '' : String(alert.thresholdMax),
    ...{ since: String(now.getTime() - WINDOW_MS), at: String(now.getTime()) },
  };
}
