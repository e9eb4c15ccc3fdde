import { alertEdit } from '../../src/commands/alert-edit.ts';
import type { CommandContext } from '../../src/commands/define.ts';
import type { Plan, Snapshot } from '../../src/domain/change.ts';
import { Alert } from '../../src/servers/alerts-schema.ts';
import { NOON } from './fixtures.ts';

/** A server that returns this alert. A comparison needs the client and the clock only. */
export function serving(reply: object): CommandContext {
  const getAlert = async () => ({ result: Alert.parse(reply), requestId: null });
  const context = { alerts: { getAlert }, reads: { alerts: null }, now: () => NOON };
  return context as unknown as CommandContext;
}

/** How the alert of a preview compares with this reply. */
export async function comparedWith(before: Snapshot | null, reply: object) {
  const target = { kind: 'alert', id: 'a1', name: 'a1', tags: [], warehouse: null } as const;
  const plan = { target, before } as unknown as Plan;
  return alertEdit.compareBeforeSending?.(plan, serving(reply));
}
