import { setImmediate as immediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  atDoor,
  modernCall,
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

const service = fc.constantFrom(
  'staging',
  'playground',
  'analytics-prod',
  'search',
  'stagign',
  'reports',
);
const size = fc.constantFrom(8, 16, 32, 64, 128, 30, '64 GB');
const reason = fc.option(fc.string({ maxLength: 200 }), { nil: undefined });
const key = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
const timing = { at: fc.option(fc.constantFrom('20:00', 'monday 8:00'), { nil: undefined }) };
const beside = { reason, key };

const call = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constantFrom('service_stop', 'service_start'),
      fc.record({ service, ...timing, ...beside }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constant('service_scale'),
      fc.record({
        service,
        max: size,
        min: size,
        replicas: fc.integer({ min: 0, max: 5 }),
        ...beside,
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom('request_status', 'request_cancel'),
      fc.record({ id: fc.constant('own') }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom('service_list', 'service_show', 'cost'),
      fc.record({ service }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom(
        'change_approve',
        'change_confirm',
        'change_freeze',
        'change_cancel',
        '__proto__',
      ),
      fc.dictionary(fc.string(), fc.jsonValue()),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom('service_stop', 'service_scale', 'request_cancel'),
      fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue()),
    ),
  },
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
        const tools = [
          'service list',
          'service show',
          'service start',
          'service stop',
          'service scale',
          'cost',
        ];
        return {
          ...rest,
          agents: { ...door, allow: allow.map((agent) => ({ ...agent, limits, tools })) },
        };
      },
    });
    const tokens = tokensOf(issuer, () => sandbox.clock.now);
    const callers = [
      () => tokens.ci(),
      () => tokens.person(ANA),
      () => tokens.person(FINN),
      () => tokens.person(DORA),
    ];
    const own = callers.map(() => 'ABCDEF');
    const endings = new Map<string, number>();
    const calls = fc.sample(call, CALLS);
    for (const [index, [name, args]] of calls.entries()) {
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
    const decisions = [
      'approved',
      'rejected',
      'break-glass',
      'claimed',
      'resolved',
      'reviewed',
      'revealed',
    ];
    expect(await eventsIn(url, ...decisions)).toEqual([]);
    const confirmed = await eventsIn(url, 'confirmed');
    expect(confirmed.filter(({ body }) => body.by !== 'agent:ci')).toEqual([]);
    expect(sandbox.cloud.count('set state') + sandbox.cloud.count('scale')).toBe(0);
    // The generator reaches what it is for.
    const reached = ['draft', 'pending', 'cancelled', 'answered', 'key-used', 'not-found'];
    expect([...endings.keys()]).toEqual(expect.arrayContaining(reached));
  },
);
