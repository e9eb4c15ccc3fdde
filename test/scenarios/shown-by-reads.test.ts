import { expect, test } from 'vitest';
import { buttonsOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { requested } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

/**
 * Each command has a service of its own, so that no other one explains what is shown. Add a line
 * here, and run the command of the page with `-u`.
 */
const COMMANDS: readonly (readonly [what: string, line: string])[] = [
  ['stop of a primary service', '/service stop lab-core for the night'],
  ['stop of a running service', '/service stop staging for the night'],
  ['stop of a stopped service', '/service stop load-test for the night'],
  ['start of a stopped service', '/service start archive maintenance is over'],
  ['start of an idle service', '/service start ci maintenance is over'],
  ['start of a running service', '/service start analytics-dev maintenance is over'],
  ['scale of the memory', '/service scale finance min=16 max=64 month end'],
  ['scale during a scaling schedule', '/service scale bi-readonly min=16 max=32 month end'],
  ['scale of a range of replicas', '/service scale ml-features min=32 max=32 month end'],
  ['scale to the current sizes', '/service scale analytics-eu min=32 max=120 month end'],
];
const LOAD_TEST = 'e9549d7a-e406-489d-aabe-f8aaea52111d';
const MODES = ['contract', 'extended'] as const;
const PAGE = './shown-by-reads.md';
const RUN = 'npx vitest run --project stories test/scenarios/shown-by-reads.test.ts -u';

const HEAD = `# What \`cloud.reads\` changes on the screen

[Optional reads](../../docs/optional-reads.md) describes the reads. For each command, this page has the lines of the preview, of the
card that approvers see, and of the ended card, as far as they depend on the mode. It is generated from runs in the
sandbox: \`${RUN}\`.

| Command | Reads | Preview | Card | Ending |
|---|---|---|---|---|`;

/** Lines that are the same in both modes, or that change with the costs of the sandbox. */
const LEFT_OUT = /^(Cost|Approval|Reason|Requested by|Approved|Answered|\/)/;

function shown(message: { readonly text: string } | undefined): string {
  const [title = '', ...lines] = (message?.text ?? 'no message').split('\n');
  const kept = lines.filter((line) => line !== '' && !LEFT_OUT.test(line));
  return [title, ...kept].map(plain).join('<br>');
}

/** Without times and ids, which differ from run to run. */
function plain(line: string): string {
  return line
    .replace(/<!date\^[^>]*>/g, '(time)')
    .replace(/\b[0-9A-Z]{6}\b/g, '(id)')
    .replace(/\|/g, '\\|');
}

async function rowsOf(mode: (typeof MODES)[number]): Promise<readonly string[]> {
  const yaml = (file: Record<string, never>) => ({ ...file, cloud: { reads: mode } });
  const sandbox = await startTestSandbox({ yaml });
  sandbox.cloud.setServiceState(LOAD_TEST, 'stopped');
  const rows: string[] = [];
  for (const [what, line] of COMMANDS) {
    pass(sandbox);
    await sandbox.slack.command(ANA, 'ops', line);
    const answer = await answerTo(sandbox, line.split(' ')[2] ?? '');
    const cells = [shown(answer), ...(await approvedCells(mode, sandbox, answer))];
    rows.push(`| ${what} | \`${mode}\` | ${cells.join(' | ')} |`);
  }
  return rows;
}

/** The window of the request budget passes, so that no command waits for another one. */
function pass({ clock, wake }: TestSandbox): void {
  clock.now = new Date(clock.now.getTime() + 11_000);
  wake();
}

/** The preview, or the answer that the change is not needed. */
async function answerTo({ slack }: TestSandbox, name: string) {
  const found = () =>
    slack
      .clientState(ANA)
      .messages.findLast(({ text }) => text.includes(`${name}?`) || text.startsWith(`${name} `));
  await expect.poll(found).toBeDefined();
  return found();
}

type Preview = NonNullable<Awaited<ReturnType<typeof answerTo>>>;

/** Waits until the server shows something that has not changed for two minutes. */
async function followed(sandbox: TestSandbox, text: () => string): Promise<void> {
  let last = '';
  let same = 0;
  const passOn = timeInSteps(sandbox, 11_000);
  const isSettled = () => {
    if (!passOn()) return false;
    const now = shown({ text: text() });
    same = now === last && /Last seen: .*\(\(time\)|Check the console/.test(now) ? same + 1 : 0;
    last = now;
    return same >= 12;
  };
  await expect.poll(isSettled).toBe(true);
}

const ENDED = /^●|^◐ .* is \w+ing|rejected by the server|outcome unknown/;

async function approvedCells(
  mode: (typeof MODES)[number],
  sandbox: TestSandbox,
  preview: Preview | undefined,
): Promise<readonly [string, string]> {
  if (!preview || !buttonsOf(preview).includes('change.confirm')) return ['–', '–'];
  await sandbox.press(ANA, preview, 'change.confirm');
  const name = preview.text.split('\n')[0]?.replace('?', '') ?? '';
  const card = await sandbox.card(requested(name));
  const waiting = shown(card);
  pass(sandbox);
  await sandbox.press(BEN, card, 'change.approve');
  if (card?.text.includes('of 2 ')) await sandbox.press(CLEO, card, 'change.approve');
  const ended = () => sandbox.slack.messages('db-approvals').find(({ ts }) => ts === card?.ts);
  const text = () => ended()?.text ?? '';
  await expect.poll(text).toMatch(ENDED);
  if (mode === 'extended') await followed(sandbox, text);
  return [waiting, shown(ended())];
}

test('what each mode of reads shows is as recorded', async () => {
  const byMode = await Promise.all(MODES.map(rowsOf));
  const rows = COMMANDS.flatMap((_, index) => byMode.map((own) => own[index] ?? ''));
  const page = `${[HEAD, ...rows].join('\n')}\n`;
  await expect(page, `run ${RUN}`).toMatchFileSnapshot(PAGE);
});
