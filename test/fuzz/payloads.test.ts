import { expect, test } from 'vitest';
import { createRandom } from '../../sandbox/api/random.ts';
import { requestChange } from '../harness/requests.ts';
import { deliver, signatureOf } from '../harness/signing.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';
import { howMany } from './amount.ts';
import { oddParcel, type Parcel } from './payloads.ts';

const { seed, rounds, each } = howMany(process.env.FUZZ_PAYLOADS, 500);
const AT_ONCE = 8;
/** Stays below the rate limit per user. */
const STEP_MS = 4_000;

/** Every change needs the approval of a user who never approves. */
const yaml = (file: Record<string, never>) => ({ ...file, policy: POLICY });
const POLICY = [
  {
    allow: ['service list', 'service show', 'pipe settings', 'alert list', 'cost', 'change list'],
    to: 'viewer',
  },
  {
    allow: ['service *', 'endpoint *', 'alert edit', 'change freeze', 'change unfreeze'],
    to: 'operator',
    approvals: { from: 'approver', count: 1 },
    expires: '14d',
  },
];

test.for<number>(rounds)(
  'no malformed payload crashes the bot, remains unanswered or has an effect (round %i)',
  { timeout: 600_000 },
  async (round) => {
    const chance = createRandom(`${seed}-${round}`);
    const sandbox = await startTestSandbox({ yaml });
    const changes = [await idOf(sandbox, await requestChange(sandbox))];
    const responseUrl = `${sandbox.slack.url}/response/none`;
    const statuses = new Map<number | string, number>();
    for (let number = 0; number < each; number += AT_ONCE) {
      const known = { chance, changes, responseUrl };
      const parcels = Array.from({ length: AT_ONCE }, (_, index) =>
        oddParcel({ ...known, number: number + index }),
      );
      const sent = await Promise.all(
        parcels.map((parcel) => answerTo(sandbox, parcel, chance() < 0.02)),
      );
      for (const status of sent) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      sandbox.clock.now = new Date(sandbox.clock.now.getTime() + STEP_MS * AT_ONCE);
    }
    if (process.env.FUZZ_PAYLOADS) process.stderr.write(`${JSON.stringify([...statuses])}\n`);

    expect(
      [...statuses.keys()].filter((status) => ![200, 400, 401, 413, 500].includes(Number(status))),
    ).toEqual([]);
    expect([...sandbox.cloud.effects(), ...sandbox.alerts.effects()]).toEqual([]);
    expect(await (await fetch(`${sandbox.url}/readyz`)).text()).toContain('ready');
    // Valid commands still work.
    await sandbox.ask(ANA, '/signalbox', '/service');
  },
);

async function idOf(sandbox: TestSandbox, card: { ts: string } | undefined): Promise<string> {
  const text = sandbox.slack.messages('db-approvals').find(({ ts }) => ts === card?.ts)?.text ?? '';
  return /· ([0-9A-Z]{6})/.exec(text)?.[1] ?? '';
}

async function answerTo(sandbox: TestSandbox, { type, body }: Parcel, isForged: boolean) {
  const signed = signatureOf(body, isForged ? { secret: 'another secret' } : {});
  try {
    return await deliver(sandbox, body, { 'content-type': type, ...signed });
  } catch (error) {
    return error instanceof Error ? error.name : 'failed';
  }
}
