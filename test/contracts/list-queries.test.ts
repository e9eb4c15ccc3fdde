import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { waitUntilIdle } from '../harness/requests.ts';
import { type ConfigFile, openContractBot } from './contract-bot.ts';
import { serviceId } from './reading-clients.ts';

const HOSTILE = `<!channel> *all* <https://evil.example|orders>\n⚠ ${'x'.repeat(4_000)}`;
/** In no signalbox.yaml, whose names win. */
const UNLISTED = '00000000-0000-4000-8000-000000000001';

const organization = {
  ...ORGANIZATION,
  pipes: ORGANIZATION.pipes.map((pipe) =>
    pipe.service === 'analytics-dev' ? { ...pipe, id: UNLISTED, name: HOSTILE } : pipe,
  ),
};
const extended = (file: ConfigFile) => ({ ...file, cloud: { reads: 'extended' } });

const live = await openContractBot({ organization, file: extended });
const contract = await openContractBot();
afterAll(async () => {
  await live.close();
  await contract.close();
});

beforeEach(() => {
  live.cloud.clearFaults();
  live.cloud.setKey(CLOUD_KEY.id, { denied: [] });
  // Cached lists and remembered refusals are older than ten minutes.
  live.time.pass(600_001);
});

const QUERIES = [
  {
    line: '/backup list analytics-prod',
    operation: 'list backups',
    title: 'Backups of analytics-prod: unknown',
    works: '/backup show analytics-prod <backup id> works with an id from the console.',
  },
  {
    line: '/pipe list analytics-prod',
    operation: 'list pipes',
    title: 'Pipes of analytics-prod: unknown',
    works:
      '/pipe settings analytics-prod <pipe> works with a name of signalbox.yaml or an id from the console.',
  },
  {
    line: '/endpoint list analytics-prod',
    operation: 'list endpoints',
    title: 'Private endpoints of analytics-prod: unknown',
    works: 'The console lists them. /endpoint create analytics-prod works.',
  },
] as const;

const GRANT = 'An operator of Signalbox can grant the permission.';
const AGAIN = 'Try again in a minute.';

describe('with extended reads', () => {
  test('the title of the backups is the latest finished one, with its age and size', async () => {
    const lines = await live.run('/backup list reporting-core');
    expect(lines[0]).toMatch(
      /^Latest backup of reporting-core: done · (1\d|2\d) h ago · 596.2 GiB · full$/,
    );
    const text = lines.join('\n');
    expect(text).toContain('7286a06a-a449-45c0-8967-7a17475a29ed');
    expect(text).toMatch(/error · incremental/);
    expect(text).not.toContain('so far');
    const unfinished = (await live.run('/backup list analytics-prod')).join('\n');
    expect(unfinished).toContain('in progress');
    expect(unfinished).toContain('Sizes of unfinished backups are those so far.');
  });

  test('a chosen backup is shown', async () => {
    const answer = await live.type('/backup list analytics-prod');
    const line = 'backup show analytics-prod c6a20eb7-42fe-4995-b901-d32fb4f1fa9e';
    expect(JSON.stringify(answer.blocks)).toContain(`"value":"${line}"`);
    expect((await live.run(`/${line}`))[0]).toBe('Backup of analytics-prod: done');
  });

  test('a secondary service has no backups', async () => {
    const lines = await live.run('/backup list bi-readonly');
    expect(lines[0]).toBe('Backups of bi-readonly: unknown');
    expect(lines.join('\n')).toContain('A secondary service has no backups of its own.');
  });

  test('pipes are listed with their state and source, without addresses', async () => {
    const lines = await live.run('/pipe list analytics-prod');
    expect(lines[0]).toBe('3 pipes of analytics-prod, 3 running');
    const text = lines.join('\n');
    expect(text).toContain('orders');
    expect(text).toMatch(/Running.*stream, msk/);
    expect(text).not.toMatch(/stream\.example|role-pipes|PEM/);
  });

  test('the pipes of a service that does not run are unknown, and nothing is woken', async () => {
    const lines = await live.run('/pipe list archive');
    expect(lines[0]).toBe('Pipes of archive: unknown');
    expect(lines.join('\n')).toContain(
      'while the service does not run (424); its state is stopped',
    );
    expect(live.cloud.effects()).toEqual([]);
  });

  test('an endpoint that waits for acceptance is named first', async () => {
    expect((await live.run('/endpoint list staging'))[0]).toBe('staging has no private endpoints');
    live.cloud.behave({ endpointOwner: 'does nothing' });
    const line =
      '/endpoint create staging type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b2c3d description="orders feed"';
    await live.confirm(await live.type(line));
    live.time.pass(600_001);
    const lines = await live.run('/endpoint list staging');
    expect(lines[0]).toBe('1 private endpoint of staging');
    expect(lines[1]).toBe(
      '⚠ 1 endpoint waits for acceptance. Accept it in the target cloud account.',
    );
    expect(lines.join('\n')).toMatch(/orders feed.*pending acceptance/);
  });

  test('a hostile name is literal, on one line and cut', async () => {
    const { blocks, text } = await live.type('/pipe list analytics-dev');
    // The mrkdwn text is escaped, and the cells of a table are literal.
    expect(text).toContain('&lt;!channel&gt; *all* &lt;https://evil.example|orders&gt; ⚠ xxx');
    expect(text).not.toContain('<!channel>');
    const table = blocks.find(({ type }) => type === 'table' || type === 'data_table');
    const cells = JSON.stringify(table).match(/<!channel>[^"]*/g) ?? [];
    expect(cells.map((cell) => cell.length)).toEqual([300]);
    expect(cells.join('')).not.toContain('\\n');
  });

  test.for([
    ['403', 'the API key has no permission to read it (403)', GRANT],
    ['404-html', 'the server does not have this read (404)', null],
    ['read-404', 'the server does not find it, or the API key may not see it (404)', null],
    ['delay-20s', '', AGAIN],
    ['null-result', '', AGAIN],
  ] as const)('after %s each list says why it is unknown, and what works', async (row) => {
    const [fault, why, next] = row;
    // A missing route switches a read off until the next start.
    const bot = await openContractBot({ file: extended });
    // The usage report of the start waits for the request budget, which moves the clock of all reads.
    await waitUntilIdle(bot);
    for (const { line, operation, title, works } of QUERIES) {
      bot.cloud.injectFault({ operation, fault, times: 9 });
      bot.time.pass(61_000);
      const lines = await bot.run(line);
      expect(lines[0]).toBe(title);
      expect(lines.join('\n')).toContain(`Unknown: ${why}`);
      expect(lines.join('\n')).toContain(works);
      expect(lines.filter((each) => [GRANT, AGAIN].includes(each))).toEqual(next ? [next] : []);
    }
    await bot.close();
  });
});

describe('with cloud.reads: contract', () => {
  test.for(QUERIES.map((query) => [query.line, query] as const))(
    '%s sends nothing, and says why it has no data and what works',
    async ([line, { title, works, operation }]) => {
      const lines = await contract.run(line);
      expect(lines[0]).toBe(title);
      expect(lines).toContain(
        'Unknown: signalbox.yaml has cloud.reads: contract, so Signalbox does not read it.',
      );
      expect(lines).toContain(works);
      expect(contract.cloud.count(operation)).toBe(0);
    },
  );

  test('the pipes of signalbox.yaml are offered', async () => {
    const lines = await contract.run('/pipe list analytics-prod');
    expect(lines).toContain('signalbox.yaml lists: orders, clicks, customers-copy.');
    expect(lines.join('\n')).toContain('[Settings of orders]');
  });
});

test('a list asks for one service, once for several users within five minutes', async () => {
  const requests = () => live.cloud.requests().filter((one) => one.operation === 'list backups');
  const before = requests().length;
  for (let n = 0; n < 2; n += 1) await live.run('/backup list analytics-prod');
  expect(requests()).toHaveLength(before + 1);
  expect(requests().at(-1)?.path).toContain(serviceId('analytics-prod'));
});

test('a slow list of webhooks does not stop an alert from being shown or edited', async () => {
  live.alerts.injectFault({ operation: 'list webhooks', fault: 'delay-20s', times: 9 });
  const lines = await live.run('/alert show "Disk usage"');
  expect(lines.find((line) => line.startsWith('Notifies'))).toMatch(
    /^Notifies {2}webhook [0-9a-f]{24}$/,
  );
  live.time.pass(61_000);
  const preview = await live.run('/alert edit "Disk usage" threshold=81');
  expect(preview).toContain('Threshold · 80 · 81');
  live.alerts.clearFaults();
});
