import {
  type EventOf,
  evolveFreeze,
  evolveSchedule,
  evolveSubscription,
  type Recorded,
} from '../domain/log-events.ts';
import { append, type Evolve, type Log, type Subjects } from './log.ts';

type InstallationEvent = Recorded<EventOf<'installation'>>;

/** Which configuration executes. Replicas with another one execute nothing. */
export interface ActiveConfiguration {
  /** The hash of the file. */
  readonly configuration: string;
  readonly release: string;
  readonly at: number;
}

function evolveConfiguration(
  _: ActiveConfiguration | null,
  event: InstallationEvent,
): ActiveConfiguration {
  if (event.type !== 'configured') throw new Error(`${event.type} is no configuration`);
  const { configuration, release, at } = event;
  return { configuration, release, at };
}

const CONFIGURATION = 'installation/configuration';
const NAMES = 'installation/names';

/** Null before the first start. Under the lock of an append, the answer holds until its commit. */
export async function activeConfiguration(subjects: Subjects): Promise<ActiveConfiguration | null> {
  return (await subjects.load(CONFIGURATION, evolveConfiguration)).state;
}

/** Makes a configuration the active one; nothing is appended if it is already. */
export async function activateConfiguration(
  log: Log,
  { configuration, release }: Omit<ActiveConfiguration, 'at'>,
): Promise<void> {
  await append(log, async (locked) => {
    const active = await activeConfiguration(locked);
    const isActive = active?.configuration === configuration && active.release === release;
    const event = { type: 'configured', configuration, release } as const;
    return { events: isActive ? [] : [{ stream: CONFIGURATION, event }], result: null };
  });
}

type Ids = Readonly<Record<string, string>>;

/** The ids behind names: `#db-costs` of a channel, `@db-leads` of a user group. The first id of a name stays. */
export async function recordedIds(subjects: Subjects): Promise<ReadonlyMap<string, string>> {
  const evolve = (ids: Ids | null, event: InstallationEvent): Ids =>
    event.type === 'named' ? { ...event.ids, ...ids } : (ids ?? {});
  return new Map(Object.entries((await subjects.load(NAMES, evolve)).state ?? {}));
}

/** Records the ids of names that have none. Returns the recorded ids: a name may have another one than was found. */
export async function recordIds(
  log: Log,
  found: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const { result } = await append(log, async (locked) => {
    const known = await recordedIds(locked);
    const added = [...found].filter(([name]) => !known.has(name));
    const event = { type: 'named', ids: Object.fromEntries(added) } as const;
    const events = added.length > 0 ? [{ stream: NAMES, event } as const] : [];
    return { events, result: new Map([...added, ...known]) };
  });
  return result;
}

/** The folds of what can be in force. */
const STANDING = {
  freeze: evolveFreeze,
  schedule: evolveSchedule,
  subscription: evolveSubscription,
};

type Standing = { readonly [K in keyof typeof STANDING]: ReturnType<(typeof STANDING)[K]> };

/**
 * What is in force at this time, by id: freezes made in Slack (also those that start later), schedules (also paused
 * ones) or subscribed digests. Never read from a view. A stream whose bodies were pruned has ended.
 */
export async function inForce<K extends keyof Standing>(
  subjects: Subjects,
  kind: K,
  now: Date,
): Promise<ReadonlyMap<string, Standing[K]>> {
  // The fold of each kind returns its own state.
  const evolve = STANDING[kind] as unknown as Evolve<`${K}/${string}`, Standing[K]>;
  const loaded = await subjects.loadAll<K, Standing[K]>(kind, evolve);
  const found = [...loaded].flatMap(([stream, { state }]) =>
    state !== null && stands(state, now) ? [[stream.replace(/^[^/]+\//, ''), state] as const] : [],
  );
  return new Map(found);
}

function stands(state: Standing[keyof Standing], now: Date): boolean {
  if ('isLifted' in state) return !state.isLifted && state.until > now;
  if ('until' in state) return !state.isRemoved && state.until > now;
  return !state.isRemoved;
}
