import { appendEvent } from '../../log/old/append.ts';
import type { DecisionContext } from './ports.ts';

interface ProcessInfo {
  readonly version: string;
  /** The hash of the configuration file, which contains the policy. */
  readonly config: string;
}

type ProcessEventContext = Pick<DecisionContext, 'database' | 'auditKey' | 'now' | 'instance'>;

/** Records release and configuration, under which all later events of this process happen. */
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
