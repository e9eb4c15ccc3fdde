import { setImmediate as immediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  atDoor,
  modernCall,
  PEOPLE_TOOLS,
  resultIn,
  startIssuer,
  tokensOf,
  withAgents,
} from '../harness/agents.ts';
import { changesIn, eventsIn } from '../harness/read-log.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, DORA, FINN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { howMany } from './amount.ts';

const { rounds, each: CALLS } = howMany(process.env.FUZZ_AGENTS, 200);
/** As many as the configuration allows in a minute; then the clock moves on. */
const PER_MINUTE = 600;

const SERVICES = ['staging', 'playground', 'analytics-prod', 'search', 'stagign', 'reports'];
const service = fc.constantFrom(...SERVICES);
const size = fc.constantFrom(8, 16, 32, 64, 128, 30, '64 GB');
const reason = fc.option(fc.string({ maxLength: 200 }), { nil: undefined });
const key = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
const timing = { at: fc.option(fc.constantFrom('20:00', 'monday 8:00'), { nil: undefined }) };
const beside = { reason, key };

/** Calls of one of these tools, as often as others by their weight. */
const calls = (weight: number, tools: readonly string[], args: fc.Arbitrary<object>) => ({
  weight,
  arbitrary: fc.tuple(fc.constantFrom(...tools), args),
});
const scaling = { max: size, min: size, replicas: fc.integer({ min: 0, max: 5 }) };
const approving = ['change_approve', 'change_confirm', 'change_freeze', 'change_cancel'];

const call = fc.oneof(
  calls(4, ['service_stop', 'service_start'], fc.record({ service, ...timing, ...beside })),
  calls(3, ['service_scale'], fc.record({ service, ...scaling, ...beside })),
  calls(2, ['request_status', 'request_cancel'], fc.record({ id: fc.constant('own') })),
  calls(1, ['service_list', 'service_show', 'cost'], fc.record({ service })),
  calls(1, [...approving, '__proto__'], fc.dictionary(fc.string(), fc.jsonValue())),
  calls(
    1,
    ['service_stop', 'service_scale', 'request_cancel'],
    fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue()),
  ),
);

test.for(rounds)(
  `${CALLS} calls of agents cause drafts, requests and own cancellations, and nothing else (%s)`,
  async () => {
    const issuer = await startIssuer();
    const limits = { open: 100, perDay: 1_000, callsPerMinute: PER_MINUTE };
    const sandbox = await startTestSandbox({
      databaseUrl: await emptyUrl('sqlite'),
      sleep: () => immediate(),
      yaml: (file: Record<string, unknown>) => {
        const { agents, ...rest } = withAgents(issuer)(file as never) as Record<string, unknown>;
        const { allow, ...door } = agents as { allow: readonly Record<string, unknown>[] };
        const all = allow.map((agent) => ({ ...agent, limits, tools: PEOPLE_TOOLS }));
        return { ...rest, agents: { ...door, allow: all } };
      },
    });
    const tokens = tokensOf(issuer, () => sandbox.clock.now);
    const people = [ANA, FINN, DORA].map((user) => () => tokens.person(user));
    const callers = [() => tokens.ci(), ...people];
    const own = callers.map(() => 'ABCDEF');
    const endings = new Map<string, number>();
    for (const [index, [name, args]] of fc.sample(call, CALLS).entries()) {
      if (index % PER_MINUTE === 0)
        sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 60_000);
      const who = index % callers.length;
      const given = 'id' in args && args.id === 'own' ? { id: own[who] } : args;
      const { headers, body } = modernCall(name, given);
      const authorization = `Bearer ${await callers[who]?.()}`;
      const reply = await atDoor(sandbox.url, { headers: { ...headers, authorization }, body });
      const { change, state, refusal } = resultIn(reply);
      if (typeof change === 'string') own[who] = change;
      const ending =
        reply.status === 200 ? String(state ?? refusal ?? 'answered') : `${reply.status}`;
      endings.set(ending, (endings.get(ending) ?? 0) + 1);
    }
    const url = sandbox.config.databaseUrl.reveal();
    const changes = await changesIn(url);
    expect(changes.every(({ via, approvals }) => via !== null && approvals.length === 0)).toBe(
      true,
    );
    const possible = ['draft', 'pending', 'cancelled', 'expired'];
    expect(changes.filter(({ state }) => !possible.includes(state))).toEqual([]);
    const decisions = ['approved', 'rejected', 'break-glass', 'claimed', 'resolved', 'reviewed'];
    expect(await eventsIn(url, ...decisions, 'revealed')).toEqual([]);
    const confirmed = await eventsIn(url, 'confirmed');
    expect(confirmed.filter(({ body }) => body.by !== 'agent:ci')).toEqual([]);
    expect(sandbox.cloud.count('set state') + sandbox.cloud.count('scale')).toBe(0);
    // The generator reaches what it is for.
    const reached = ['draft', 'pending', 'cancelled', 'answered', 'key-used', 'not-found'];
    expect([...endings.keys()]).toEqual(expect.arrayContaining(reached));
  },
);
