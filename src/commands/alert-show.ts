import { z } from 'zod';
import type { Cell } from '../domain/answer.ts';
import { channelText, silenceCell, thresholdText } from '../intent/answers/alert-text.ts';
import { AlertName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import { type AlertNames, readAlertNames } from '../servers/alerts-reads.ts';
import type { Alert } from '../servers/alerts-schema.ts';

export const alertShow = queryCommand({
  name: 'alert show',
  title: 'Look up an alert',
  summary: 'Show all fields of an alert',
  examples: ['alert show "5xx rate"'],
  args: z.strictObject({ alert: AlertName }),

  target: ({ alert: { id, name } }) => ({ kind: 'alert', id, name, tags: [], warehouse: null }),
  answer: async ({ alert }, { alerts, reads, now }) => {
    if (!alerts) return OFF;
    const { result, requestId } = await alerts.getAlert(alert.id);
    const names = await readAlertNames(reads.alerts, result);
    return {
      title: result.name ?? `Alert ${alert.id}`,
      parts: [
        { kind: 'facts', facts: facts(result, now(), names) },
        { kind: 'offers', offers: [{ label: 'Edit…', line: `alert edit ${alert.id}` }] },
        ...(requestId ? [{ kind: 'note', text: `Request ${requestId}` } as const] : []),
      ],
    };
  },
});

const OFF = {
  title: 'Alert commands are off',
  parts: [
    {
      kind: 'text',
      text: 'ALERTS_API_URL and ALERTS_API_TOKEN are not set. Ask an administrator to set them.',
    },
  ],
} as const;

// Shown with a label of their own, or of no use to a reader.
const NAMED = new Set([
  ...['id', 'name', 'message', 'note', 'threshold', 'thresholdMax', 'thresholdType', 'interval'],
  ...['source', 'state', 'channel', 'channels', 'silenced', 'createdAt', 'updatedAt', 'groupBy'],
  ...['team', 'teamId', 'dashboard', 'dashboardId', 'tileId', 'savedSearch', 'savedSearchId'],
]);

function facts(alert: Alert, now: Date, names: AlertNames): readonly (readonly [string, Cell])[] {
  const others = Object.entries(alert.asRead)
    .filter(([key, value]) => !NAMED.has(key) && value !== null && !isEmptyList(value))
    .map(
      ([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const,
    );
  return [
    ['State', alert.state],
    ['Threshold', thresholdText(alert)],
    ['Interval', alert.interval],
    ['Source', alert.source],
    ['Tile', referenceText(alert.tileId, names.tile)],
    ['Dashboard', referenceText(alert.dashboardId, names.dashboard)],
    ['Saved search', referenceText(alert.savedSearchId, names['saved search'])],
    ['Group by', alert.groupBy],
    ['Channel', channelText(alert, names)],
    ['Message', alert.message],
    ['Note', alert.note],
    ['Silent until', silenceCell(alert, now) ?? 'not silenced'],
    ['Team', alert.teamId],
    ['Id', alert.id],
    ['Created', instant(alert.createdAt)],
    ['Updated', instant(alert.updatedAt)],
    ...others,
  ];
}

/** The name of what the alert refers to; the id where the name is unknown. */
function referenceText(
  id: string | null,
  names: Readonly<Record<string, string | null>> = {},
): Cell {
  if (id === null || names[id] === undefined) return id;
  return names[id] ?? `${id} (not listed by the server)`;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function instant(text: string | null): Cell {
  const at = text === null ? null : new Date(text);
  return at && Number.isNaN(at.getTime()) ? text : at;
}
