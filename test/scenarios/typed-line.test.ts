import { expect, test } from 'vitest';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

/** The last block of the private answer to this line. */
async function lastBlock(line: string, words: string): Promise<unknown> {
  const sandbox = await startTestSandbox();
  await sandbox.slack.command(ANA, 'ops', line);
  const { blocks } = await sandbox.privateMessage(ANA, words);
  return blocks?.at(-1);
}

test.for<[string, string]>([
  ['/service scale staging min=30 max=64 "the launch"', 'must be a multiple of 4'],
  ['/service scale staging mni=16 the launch', 'has no key “mni=”'],
  ['/service stpo staging for the night', "There's no command"],
  ['/alert edit "5xx rate" treshold=5 <!channel> *bold*', 'has no key “treshold=”'],
])('a line that is not understood is repeated as it was typed: %s', async ([line, words]) => {
  const element = { type: 'plain_text', text: line, emoji: false };
  expect(await lastBlock(line, words)).toMatchObject({ type: 'context', elements: [element] });
});

test('a repeated line names its channel', async () => {
  const line = '/cost digest add <#C0DBCOSTS01|db-costs> time=9:30 &lt;!channel&gt;';
  expect(await lastBlock(line, 'does not take')).toMatchObject({
    type: 'context',
    elements: [
      {
        type: 'mrkdwn',
        text: '/cost digest add <#C0DBCOSTS01> time=9:30 &lt;!channel&gt;',
        verbatim: true,
      },
    ],
  });
});

test.for(['a channel', 'a direct message'])(
  'in %s, a question is replaced by the answer to its button',
  async (place) => {
    const sandbox = await startTestSandbox();
    const { slack } = sandbox;
    if (place === 'a channel') await slack.command(ANA, 'ops', '/service stop staging tonight');
    else {
      await slack.openHome({ as: ANA });
      const own = slack.clientState(ANA).channels.find(({ id }) => id.startsWith('D'))?.id ?? '';
      await slack.sendMessage({ as: ANA, channel: own, text: 'stop staging tonight' });
    }
    const question = await sandbox.privateMessage(ANA, 'names no single moment');
    await sandbox.press(ANA, question, 'command.0');
    await sandbox.privateMessage(ANA, 'Stop staging?');
    const shown = slack.clientState(ANA).messages.map(({ text }) => text);
    expect(shown.join('\n')).not.toContain('names no single moment');
  },
);
