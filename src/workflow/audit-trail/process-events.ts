import { appendEvent } from '../../storage/audit/append.ts';
import type { World } from '../ports.ts';

export interface Running {
  readonly version: string;
  /** Of the configuration file: two starts with another one had another policy. */
  readonly config: string;
}

type LifeWorld = Pick<World, 'database' | 'auditKey' | 'now' | 'instance'>;

/** With what it runs from here on, so that every later event can be held against it. */
export async function recordStart(world: LifeWorld, { version, config }: Running): Promise<void> {
  await record(world, 'started', { version, config });
}

export async function recordStop(world: LifeWorld): Promise<void> {
  await record(world, 'stopped', {});
}

async function record(
  { database, auditKey, now, instance }: LifeWorld,
  kind: string,
  facts: Readonly<Record<string, string>>,
): Promise<void> {
  const event = { kind, at: now(), body: { by: 'signalbox', instance, ...facts } };
  await database.transaction((tx) => appendEvent(tx, auditKey, event));
}
