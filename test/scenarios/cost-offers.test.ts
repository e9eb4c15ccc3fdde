import { expect, test } from 'vitest';
import type { Json } from '../../sandbox/json.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import { isProgress } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { lineIn } from '../harness/typed-lines.ts';
import { ANA } from '../harness/users.ts';

/** Types a line in a world of its own; the text of the answer, and the lines of its buttons and menus. */
async function answerTo(line: string) {
  const { slack } = await startTestSandbox();
  const own = () =>
    slack
      .clientState(ANA)
      .messages.filter(
        (message) =>
          (message.ephemeral || message.channel.startsWith('D')) &&
          message.author !== ANA &&
          !isProgress(message),
      );
  const before = new Set(own().map(({ ts }) => ts));
  await slack.command(ANA, 'ops', `/${line}`);
  const shown = () => own().filter(({ ts }) => !before.has(ts));
  await expect.poll(() => shown().length, { interval: 5, timeout: 10_000 }).toBeGreaterThan(0);
  const elements = shown().flatMap(({ blocks }) => elementsIn(blocks).map((one) => one.element));
  const values = elements.flatMap((one: Json) => [
    lineIn(one.value),
    ...[one.options].flat().map((option) => lineIn(Object(option).value)),
  ]);
  const text = shown().map((message) => message.text);
  return { text: text.join('\n'), lines: values.filter((value) => value.startsWith('cost')) };
}

const ASKED = [
  'cost',
  'cost average per day',
  'cost compute last-month',
  'cost last-week metric storage by day',
  'cost not staging',
  'cost october top 3 vs prev',
  'cost nov 1-15',
  'cost nov 15-1',
  'cost yesterday',
  'cost last-month',
  'cost qtd by month',
  'cost tag prod by team',
  'cost why yesterday',
  'cost mtd final',
  'cost why compute 7d',
  'cost forecast',
  'cost forecast next month metric storage',
  'cost 7d stagign',
  'cost metric stroage',
  'cost next month',
  'cost why 7d by day',
  'cost vs',
];

test.for(ASKED)('each button and menu entry of “%s” works', async (line) => {
  const { lines } = await answerTo(line);
  for (const each of new Set(lines)) {
    // A refresh or a shared post is the same question.
    const { text } = await answerTo(each);
    expect(text, each).not.toMatch(
      /didn't understand|has no data|is in the future|does not take|^$/,
    );
  }
});

test('each button asks the same question: an average stays one', async () => {
  const { text, lines } = await answerTo('cost average last-week');
  expect(text).toMatch(/credits per day/);
  const again = lines.find((line) => line.endsWith(' refresh')) ?? '';
  expect((await answerTo(again)).text.split('\n')[0]).toBe(text.split('\n')[0]);
});
