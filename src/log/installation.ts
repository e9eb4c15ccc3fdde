import {
  type EventOf,
  evolveFreeze,
  evolveSchedule,
  type LoggedFreeze,
  type LoggedSchedule,
  type Recorded,
} from '../domain/log-events.ts';
import { append, type Log, type Subjects } from './log.ts';

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

/** Freezes made in Slack that are in force at this time, or start later; by id. Never read from a view. */
export async function freezesInForce(
  subjects: Subjects,
  now: number,
): Promise<ReadonlyMap<string, LoggedFreeze>> {
  return inForce(await subjects.loadAll('freeze', evolveFreeze), ({ isLifted, until }) => {
    return !isLifted && until > now;
  });
}

/** Schedules that were neither removed nor have expired, also paused ones; by id. Never read from a view. */
export async function schedulesInForce(
  subjects: Subjects,
  now: number,
): Promise<ReadonlyMap<string, LoggedSchedule>> {
  return inForce(await subjects.loadAll('schedule', evolveSchedule), ({ isRemoved, until }) => {
    return !isRemoved && until > now;
  });
}

/** The names of the streams are `freeze/<id>`. A stream whose bodies were pruned has ended. */
function inForce<S>(
  loaded: ReadonlyMap<string, { readonly state: S | null }>,
  isInForce: (state: S) => boolean,
): ReadonlyMap<string, S> {
  const found = [...loaded].flatMap(([stream, { state }]) =>
    state !== null && isInForce(state) ? [[stream.replace(/^[^/]+\//, ''), state] as const] : [],
  );
  return new Map(found);
}
