import { appendEvent } from '../../storage/audit/append.ts';
import type { DecisionContext } from '../ports.ts';

export interface ProcessInfo {
  readonly version: string;
  /** Of the configuration file: two starts with another one had another policy. */
  readonly config: string;
}

type ProcessEventContext = Pick<DecisionContext, 'database' | 'auditKey' | 'now' | 'instance'>;

/** With what it runs from here on, so that every later event can be held against it. */
export async function recordStart(
  context: ProcessEventContext,
  { version, config }: ProcessInfo,
): Promise<void> {
  await record(context, 'started', { version, config });
}

export async function recordStop(context: ProcessEventContext): Promise<void> {
  await record(context, 'stopped', {});
}

async function record(
  { database, auditKey, now, instance }: ProcessEventContext,
  kind: string,
  facts: Readonly<Record<string, string>>,
): Promise<void> {
  const event = { kind, at: now(), body: { by: 'signalbox', instance, ...facts } };
  await database.transaction((tx) => appendEvent(tx, auditKey, event));
}
