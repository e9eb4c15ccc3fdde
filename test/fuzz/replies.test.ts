import { expect, test } from 'vitest';
import { createRandom } from '../../sandbox/api/random.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { BEN, DORA, FINN } from '../harness/users.ts';
import { howMany } from './amount.ts';
import { openBender } from './bender.ts';
import { pick } from './mutate.ts';

const { seed, rounds, each } = howMany(process.env.FUZZ_REPLIES, 120);

const LINES = [
  '/service show staging',
  '/backup show staging 5f1c2d3e-0000-4000-8000-000000000001',
  '/pipe settings analytics-prod orders',
  '/cost last-month by service',
  '/cost week by day',
  '/alert list',
  '/alert list latency',
  '/alert show 1',
  '/service stop staging for the night',
  '/service scale staging min=16 max=64 load test',
];
const PEOPLE = [DORA, FINN, BEN];

test.for<number>(rounds)(
  'a command is answered whatever an API returns, and nothing is sent without approval (round %i)',
  { timeout: 900_000 },
  async (round) => {
    const chance = createRandom(`${seed}-replies-${round}`);
    const { through, bent } = openBender(chance);
    const sandbox = await startTestSandbox({ through });
    for (let asked = 0; bent.count < each && asked < each * 4; asked += 1) {
      await answered(sandbox, pick(chance, PEOPLE), pick(chance, LINES));
      // The cached answers expire, and the request budget is refilled.
      sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 61_000);
    }
    expect(bent.count).toBeGreaterThanOrEqual(each);
    expect([...sandbox.cloud.effects(), ...sandbox.alerts.effects()]).toEqual([]);
    expect(await (await fetch(`${sandbox.url}/readyz`)).text()).toContain('ready');
  },
);

/** Expects an answer to a command: a table, a preview, a form or an error. */
async function answered(sandbox: TestSandbox, as: string, line: string): Promise<void> {
  const before = heard(sandbox);
  await sandbox.slack.command(as, 'ops', line);
  await expect.poll(() => heard(sandbox), { message: line, interval: 5 }).toBeGreaterThan(before);
}

function heard({ slack }: TestSandbox): number {
  return slack.messages('ops').length + slack.calls('views.open').length;
}
