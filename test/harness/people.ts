import { expect } from 'vitest';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import type { startSlackSimulator } from '../../sandbox/slack/server.ts';
import { placeOf, type Readable, textOf } from './messages.ts';

type Slack = Awaited<ReturnType<typeof startSlackSimulator>>;

/** How long to wait for a message; by default the limit of the test project. */
interface PollLimits {
  readonly timeout?: number;
  readonly interval?: number;
}

type Pressed = Pick<StoredMessage, 'channel' | 'ts'> | undefined;

/** What users see and press in Slack. */
export function peopleOn(slack: Slack, limits: PollLimits = {}) {
  /** Waits for a message with these words and returns the newest one. */
  const newest = async <M extends Readable>(
    messages: () => readonly M[],
    words: string,
  ): Promise<M> => {
    const texts = () => messages().map(textOf);
    await expect.poll(texts, limits).toContainEqual(expect.stringContaining(words));
    const shown = messages().findLast((message) => textOf(message).includes(words));
    return shown ?? expect.fail(`What said “${words}” is gone`);
  };
  const privateMessages = (as: string) =>
    slack
      .clientState(as)
      .messages.filter(({ ephemeral, channel }) => ephemeral || channel[0] === 'D');
  const privateMessage = (as: string, words: string) => newest(() => privateMessages(as), words);
  const press = (as: string, message: Pressed, id: string) => slack.click(as, placeOf(message), id);
  /** Waits for a modal, which opens after the click was acknowledged. */
  const modal = async (as: string, callbackId: string) => {
    const top = () => slack.clientState(as).views.at(-1);
    await expect.poll(() => top()?.callbackId, limits).toBe(callbackId);
    return top()?.id ?? '';
  };
  /** The private message with these words that follows what is done, where earlier ones may have them too. */
  const nextMessage = async (as: string, words: string, act: () => Promise<unknown>) => {
    const earlier = new Set(privateMessages(as).map(({ ts }) => ts));
    await act();
    return newest(() => privateMessages(as).filter(({ ts }) => !earlier.has(ts)), words);
  };
  /** Types a line in #ops, and waits for a private message with these words. */
  const ask = async (as: string, line: string, words: string) => {
    await slack.command(as, 'ops', line);
    return privateMessage(as, words);
  };
  return {
    privateMessage,
    nextMessage,
    press,
    ask,
    /** The text of the new message with these words that answers a line, where earlier ones may have them too. */
    nextAnswer: async (as: string, line: string, words: string) =>
      textOf(await nextMessage(as, words, () => slack.command(as, 'ops', line))),
    /** The text of the private message with these words that answers a line. */
    answer: async (as: string, line: string, words: string) => textOf(await ask(as, line, words)),
    /** Types the line of a change, and confirms the preview with these words. */
    confirm: async (as: string, line: string, words: string) =>
      press(as, await ask(as, line, words), 'change.confirm'),
    card: (words: string, channel = 'db-approvals') =>
      newest(
        () => slack.messages(channel).filter((each) => !each.ephemeralFor && !each.threadTs),
        words,
      ),
    modal,
    /** Presses a button whose form asks for a reason, and submits the form with it. */
    pressWithReason: async (as: string, message: Pressed, id: string, value: string) => {
      await press(as, message, id);
      const reason = { reason: { type: 'plain_text_input', value } };
      return slack.submit(as, await modal(as, id), { reason });
    },
    /** The options that a field of an open form offers for a typed text. */
    optionsFor: async (as: string, viewId: string, field: string, value: string) => {
      const place = { in: 'view', viewId } as const;
      const found = await slack.suggest({ as, place, blockId: field, actionId: field, value });
      return found.options;
    },
    /** Chooses a command from the menu of Home. */
    chooseOnHome: async (as: string, line: string) => {
      const home = () => JSON.stringify(slack.clientState(as).home);
      await expect.poll(home, limits).toContain(line);
      const [, blockId = ''] =
        /"block_id":"([^"]+)"[^[]*"elements":\[\{[^[]*"command.menu"/.exec(home()) ?? [];
      const element = { type: 'static_select', selected_option: { value: line } };
      await slack.press({ as, place: { in: 'home' }, blockId, actionId: 'command.menu', element });
    },
  };
}

export type People = ReturnType<typeof peopleOn>;
