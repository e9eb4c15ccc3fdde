import type { z } from 'zod';
import { type ChangeCommand, type CommandContext, commands } from '../../src/commands/index.ts';
import type { Change, ExecutionOutcome, Snapshot } from '../../src/domain/change.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { writePermit } from '../../src/log/old/permits.ts';
import {
  EndpointReading,
  EndpointReadings,
  ServiceReading,
  ServiceReadings,
} from '../../src/servers/cloud-readings.ts';
import type { UnknownRead } from '../../src/servers/optional-reads.ts';
import { createFollowLoop } from '../../src/workflow/old/follow-targets.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { aChange, minutes, NOON, storedWithTrail } from '../storage/example-change.ts';
import { storedChange } from './stored-change.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const NO_ANSWER: UnknownRead = {
  ...{ known: false, gap: 'no-answer', why: 'the server did not answer within 10 s' },
  status: null,
};

const CALL = { tookMs: 40_000, requestId: null } as const;
export const SENT: ExecutionOutcome = {
  ...{ how: 'succeeded', at: minutes(1), reported: ['stopping'] },
  ...CALL,
};
export const NO_RESPONSE: ExecutionOutcome = {
  ...{ how: 'unknown', at: minutes(1), status: null, text: 'The server did not answer.' },
  ...CALL,
};

/** Values that were read before the send. */
export function readAs(fields: Record<string, string | number | boolean>): Snapshot {
  return { fields, seenAt: NOON, source: 'read', wasRead: true };
}

/** A change of the service staging, as it was sent at 12:00. */
export function sentChange(
  command: string,
  body: Change['plan']['body'],
  over: Partial<Change> & { readonly before?: Snapshot | null } = {},
): Change {
  const { before = null, ...rest } = over;
  const { plan } = aChange();
  const own = { ...plan, body, before };
  return aChange({ command, plan: own, state: 'succeeded', outcome: SENT, ...rest });
}

interface Server {
  /** The service or endpoint, or why it cannot be read. */
  one: Fields | UnknownRead;
  listed: readonly Fields[] | UnknownRead;
  /** What happens while a read is under way. */
  during?: () => Promise<unknown>;
}

/** One replica that follows changes; the server is a function of the read. */
export async function startFollowing(change: Change, others: Partial<WorkflowContext> = {}) {
  const stored = await storedChange({ change });
  const server: Server = { one: {}, listed: [] };
  const asked: string[] = [];
  // Values pass the client's schemas, as replies do.
  const answer = async (name: string, schema: z.ZodType, value: unknown, how: unknown) => {
    asked.push(`${name} ${JSON.stringify(how)}`);
    await server.during?.();
    const isRead = typeof value === 'object' && value !== null && 'known' in value;
    return isRead ? value : { known: true, value: schema.parse(value), readAt: stored.clock.now };
  };
  const withId = (id: string) => ('known' in server.one ? server.one : { id, ...server.one });
  const cloud = {
    service: (id: string, how: unknown) => answer('service', ServiceReading, withId(id), how),
    endpoint: (_: string, id: string, how: unknown) =>
      answer('endpoint', EndpointReading, withId(id), how),
    services: (how: unknown) => answer('services', ServiceReadings, server.listed, how),
    endpoints: (_: string, how: unknown) =>
      answer('endpoints', EndpointReadings, server.listed, how),
  };
  const changes = commands.filter((each): each is ChangeCommand => each.kind === 'change');
  const context: WorkflowContext = {
    ...stored.context,
    commands: new Map(changes.map((each) => [each.name, each])),
    // Only the optional reads are called.
    commandContext: () => ({ reads: { cloud, alerts: null } }) as unknown as CommandContext,
    ...others,
  };
  const { database } = context;
  await database.transaction((tx) =>
    writePermit(tx, { changeId: change.id, single: false, owner: 'tests', at: NOON }),
  );
  stored.clock.now = minutes(1);
  const pass = createFollowLoop(context);
  return {
    ...stored,
    context,
    server,
    asked,
    pass,
    /** One pass at this time, in seconds after the outcome. */
    passAt: async (seconds: number) => {
      stored.clock.now = new Date(minutes(1).getTime() + seconds * 1_000);
      await pass();
      return loadChange(database.db, change.id);
    },
    /** Another change of the same service that got a permit to send. */
    sendOther: async (over: Partial<Change>, at: Date) => {
      const other = aChange(over);
      await storedWithTrail(database, other);
      const permit = { changeId: other.id, single: false, owner: 'tests', at };
      await database.transaction((tx) => writePermit(tx, permit));
      return other;
    },
    waiting: async () => {
      const query = database.db
        .selectFrom('outbox')
        .select('kind')
        .where('change_id', '=', change.id);
      return (await query.orderBy('id').execute()).map(({ kind }) => kind);
    },
  };
}
