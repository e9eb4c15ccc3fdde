import type { z } from 'zod';
import { type ChangeCommand, type CommandContext, commands } from '../../src/commands/index.ts';
import type { Change, Plan, Snapshot } from '../../src/domain/change.ts';
import {
  EndpointReading,
  EndpointReadings,
  ServiceReading,
  ServiceReadings,
} from '../../src/servers/cloud-readings.ts';
import type { UnknownRead } from '../../src/servers/optional-reads.ts';
import { sql, transaction } from '../../src/storage/index.ts';
import { jobKinds } from '../../src/workflow/background.ts';
import { withFollowUp } from '../../src/workflow/follow.ts';
import {
  aChange,
  createTestContext,
  loaded,
  minutes,
  moved,
  NONCE,
  NOON,
  PLAN,
} from './context.ts';
import { jobsFor, runDue } from './due.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const NO_ANSWER: UnknownRead = {
  ...{ known: false, gap: 'no-answer', why: 'the server did not answer within 10 s' },
  status: null,
};

/** A change that is claimed at 12:00, and whose outcome is recorded at 12:01. */
export interface Sent {
  readonly command: string;
  readonly plan: Partial<Plan>;
  readonly how: 'succeeded' | 'unknown';
  readonly createdId?: string;
  /** The state could not be read again before the send. */
  readonly isUnverified?: boolean;
}

/** Values that were read before the send. */
export function readAs(fields: Record<string, string | number | boolean>): Snapshot {
  return { fields, seenAt: NOON, source: 'read', wasRead: true };
}

/** A change of the service staging. */
export function sentChange(
  command: string,
  body: Change['plan']['body'],
  over: Partial<Sent> & { readonly before?: Snapshot | null } = {},
): Sent {
  const { before = null, ...rest } = over;
  return { command, plan: { body, before }, how: 'succeeded', ...rest };
}

interface Server {
  /** The service or endpoint, or why it cannot be read. */
  one: Fields | UnknownRead;
  listed: readonly Fields[] | UnknownRead;
  /** What happens while a read is under way. */
  during?: () => Promise<unknown>;
}

/** One process that follows a change; the server is a function of the read. */
export async function startFollowing(
  { command, plan, how, createdId, isUnverified }: Sent,
  { isOn = true } = {},
) {
  const server: Server = { one: {}, listed: [] };
  const asked: string[] = [];
  // Values pass the client's schemas, as replies do.
  const answer = async (name: string, schema: z.ZodType, value: unknown, given: unknown) => {
    asked.push(`${name} ${JSON.stringify(given)}`);
    await server.during?.();
    const isRead = typeof value === 'object' && value !== null && 'known' in value;
    return isRead ? value : { known: true, value: schema.parse(value), readAt: base.clock.now };
  };
  const withId = (id: string) => ('known' in server.one ? server.one : { id, ...server.one });
  const cloud = {
    service: (id: string, given: unknown) => answer('service', ServiceReading, withId(id), given),
    endpoint: (_: string, id: string, given: unknown) =>
      answer('endpoint', EndpointReading, withId(id), given),
    services: (given: unknown) => answer('services', ServiceReadings, server.listed, given),
    endpoints: (_: string, given: unknown) =>
      answer('endpoints', EndpointReadings, server.listed, given),
  };
  const changes = commands.filter((each): each is ChangeCommand => each.kind === 'change');
  const base = await createTestContext({
    commands: new Map(changes.map((each) => [each.name, each])),
    discoversServices: isOn,
    // Only the optional reads are called.
    commandContext: () => ({ reads: { cloud, alerts: null } }) as unknown as CommandContext,
  });
  const { context, clock } = base;
  const change = await aChange(context, { command, plan, state: 'approved' });
  const { id } = change;
  const stateCheck = { kind: 'unverified', why: 'the server did not answer' } as const;
  await moved(context, id, {
    ...{ type: 'claimed', by: 'tests', nonce: NONCE, attempt: 1, until: minutes(3) },
    ...(isUnverified && { stateCheck }),
  });
  clock.now = minutes(1);
  const call = { nonce: NONCE, answeredAt: minutes(1), tookMs: 40_000, requestId: null };
  await (how === 'succeeded'
    ? moved(context, id, {
        ...{ type: how, ...call, reported: ['stopping'] },
        ...(createdId && { createdId }),
      })
    : moved(context, id, { type: how, ...call, status: null, text: 'The server did not answer.' }));
  const kinds = { follow: jobKinds(context).follow };
  const current = async () => withFollowUp(context, await loaded(context, id));
  return {
    ...{ ...base, id, server, asked, current },
    pass: () => runDue(context, kinds),
    /** One pass at this time, in seconds after the outcome. */
    passAt: async (seconds: number) => {
      clock.now = new Date(minutes(1).getTime() + seconds * 1_000);
      await runDue(context, kinds);
      return current();
    },
    /** Another change of the same service that is sent at this time. */
    sendOther: async (other: string, at: Date) => {
      const before = clock.now;
      clock.now = at;
      const sent = await aChange(context, {
        command: other,
        plan: { target: PLAN.target },
        state: 'succeeded',
        answeredAt: at,
      });
      clock.now = before;
      return sent;
    },
    waiting: () => jobsFor(context, id),
    /** Ends the jobs of messages, as their own file does. */
    draw: () =>
      transaction(context.store, async (tx) => {
        await sql`delete from job where kind <> 'follow'`.execute(tx);
      }),
  };
}
