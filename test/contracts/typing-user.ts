import { setTimeout as pause } from 'node:timers/promises';
import type { View, ViewValues } from '../../sandbox/protocol.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import type { SlackSimulator } from '../../sandbox/slack/simulator.ts';
import { isCard, isProgress } from '../harness/messages.ts';
import { ANA, FINN } from '../harness/users.ts';
import { linesOf } from './message-lines.ts';

const CHANNEL = 'ops';
const CARDS = 'db-approvals';
const STILL = / requests: |: (approved|running) ·/;
const MOST_POLLS = 3_000;

/** After this many commands the clock advances, so that the rate limit per user is not reached. */
const ASKED_AT_ONCE = 15;

/** Types commands and submits forms as Ana, and returns the answers as lines of text. */
export function typingUser(simulator: SlackSimulator, rest: () => void) {
  const limit = rateLimitRests(rest);
  const slack = withinRateLimit(simulator, limit.take);
  const privately = () =>
    slack
      .messages(CHANNEL)
      .filter((message) => message.ephemeralFor === ANA && !isProgress(message));
  const cards = () => slack.messages(CARDS).filter(isCard);
  /** Finds the next private answer. The one to an earlier press may arrive meanwhile. */
  const nextAnswer = () => {
    const before = new Set(privately().map(({ ts }) => ts));
    return () =>
      privately().find(({ ts, text }) => !before.has(ts) && !text.startsWith('Requested: '));
  };

  /** The next private answer after `act`. */
  async function answerTo(what: string, act: () => Promise<unknown>): Promise<StoredMessage> {
    const found = nextAnswer();
    await act();
    return until(found, `an answer to “${what}”`);
  }

  /** The form, after its fields have loaded; null before. */
  function loadedForm(callbackId: string): View | null {
    const view = slack.clientState(ANA).views.find((each) => each.callbackId === callbackId);
    return view && view.submit !== null ? view : null;
  }

  async function form(line: string, callbackId: string): Promise<View> {
    await slack.command(ANA, CHANNEL, line);
    return until(() => loadedForm(callbackId), `the form of “${line}”`);
  }

  /** The answer to a command line, or the form that it opens. */
  async function answerOrForm(line: string, callbackId: string) {
    const next = nextAnswer();
    await slack.command(ANA, CHANNEL, line);
    const found = () => {
      const [answer, view] = [next() ?? null, loadedForm(callbackId)];
      return answer || view ? { answer, view } : null;
    };
    return until(found, `an answer to “${line}”`);
  }

  /** The form to edit the command of a preview. */
  async function openEditForm(line: string, callbackId: string): Promise<View> {
    const { answer, view } = await answerOrForm(line, callbackId);
    if (view || !answer) return view ?? form(line, callbackId);
    return edit(answer, callbackId);
  }

  async function edit({ channel, ts }: StoredMessage, callbackId: string): Promise<View> {
    await slack.click(ANA, { in: 'message', channel, ts }, 'change.edit');
    return until(() => loadedForm(callbackId), `the form to edit “${callbackId}”`);
  }

  /** Submits a form: the errors under its fields, or the lines of the answer. */
  async function submit(viewId: string, values: ViewValues) {
    // The answer to an edit replaces its preview; any other answer is a new message.
    const before = new Map(privately().map(({ ts, blocks }) => [ts, blocks]));
    await slack.submit(ANA, viewId, values);
    const view = slack.clientState(ANA).views.find(({ id }) => id === viewId);
    if (view) return { errors: view.errors, lines: [], answer: null };
    const isNew = ({ ts, blocks }: StoredMessage) => before.get(ts) !== blocks;
    const answered = () => privately().find(isNew) ?? reopenedForm(viewId);
    const answer = await until(answered, 'the answer to a form');
    if ('ts' in answer) return { errors: {}, lines: linesOf(answer.blocks), answer };
    await slack.close(ANA, answer.id);
    const lines = [`opens again: ${linesOf(answer.blocks.slice(0, 1)).join('\n')}`];
    return { errors: {}, lines, answer: null };
  }

  /** The form that opens again with the problem above its fields. */
  function reopenedForm(taken: string): View | null {
    const view = slack.clientState(ANA).views.find(({ id }) => id !== taken);
    return view && view.submit !== null ? view : null;
  }

  /** Confirms a preview, and waits until its card shows the outcome. */
  async function confirm(preview: StoredMessage): Promise<StoredMessage> {
    const before = cards().length;
    const place = { in: 'message', channel: preview.channel, ts: preview.ts } as const;
    await slack.click(ANA, place, 'change.confirm');
    const ended = () => {
      const card = cards()[before];
      const lines = linesOf(card?.blocks ?? []);
      const waits = lines.some((line) => line.includes('Nothing was sent yet'));
      return card && (waits || !STILL.test(lines[0] ?? '')) ? card : null;
    };
    const card = await until(ended, `an ending of ${linesOf(preview.blocks)[0]}`);
    // The answer to the press takes the place of the preview after the card shows it.
    const waits = ({ ts, blocks }: StoredMessage) =>
      ts === preview.ts && JSON.stringify(blocks).includes('change.confirm');
    await until(() => (privately().some(waits) ? null : true), 'the answer to Confirm');
    return card;
  }

  /** Records that a request with an unknown outcome did not happen, so that its target is free. */
  async function resolveUnknown({ channel, ts }: StoredMessage): Promise<void> {
    const callbackId = 'change.did-not-happen';
    await slack.click(FINN, { in: 'message', channel, ts }, callbackId);
    const modal = () =>
      slack.clientState(FINN).views.find((view) => view.callbackId === callbackId);
    const view = await until(modal, 'the form of an unknown outcome');
    const value = 'Not in the console';
    const note = { type: 'plain_text_input', value };
    await slack.submit(FINN, view.id, { reason: { reason: note } });
    const title = () =>
      linesOf(slack.messages(channel).find((message) => message.ts === ts)?.blocks ?? [])[0] ?? '';
    await until(() => (title().includes('outcome unknown') ? null : true), 'the recorded outcome');
  }

  /** The lines of *Show request* for a preview or a card. */
  async function requestLines({ channel, ts }: StoredMessage): Promise<readonly string[]> {
    const place = { in: 'message', channel, ts } as const;
    const press = () => slack.click(ANA, place, 'change.details');
    const next = nextAnswer();
    const inApprovals = () =>
      slack
        .messages(CARDS)
        .filter((message) => message.ephemeralFor === ANA && !isProgress(message));
    const shownBefore = inApprovals().length;
    await press();
    const found = () => next() ?? inApprovals()[shownBefore];
    return linesOf((await until(found, 'the request')).blocks);
  }

  /** The password that the button on the card of a creation shows once. */
  async function revealPassword({ channel, ts }: StoredMessage): Promise<string> {
    await slack.click(ANA, { in: 'message', channel, ts }, 'change.reveal');
    const modal = () => slack.clientState(ANA).views.at(-1);
    const view = await until(() => modal() ?? null, 'the password');
    await slack.close(ANA, view.id);
    return linesOf(view.blocks)[0] ?? '';
  }

  const type = (line: string) => answerTo(line, () => slack.command(ANA, CHANNEL, line));
  return {
    /** Advances the clock now, so that it does not advance during the next commands. */
    rest: limit.rest,
    type,
    form,
    openEditForm,
    edit,
    answerOrForm,
    submit,
    confirm,
    answerTo,
    requestLines,
    revealPassword,
    resolveUnknown,
    linesIn: ({ blocks }: StoredMessage) => linesOf(blocks),
    run: async (line: string) => linesOf((await type(line)).blocks),
    /** The current lines of the same message. */
    currentLines: ({ channel, ts }: StoredMessage) =>
      withoutId(
        linesOf(slack.messages(channel).find((message) => message.ts === ts)?.blocks ?? []),
      ),
  };
}

/** The lines of a card, without the id of its change in the first one. */
export function withoutId([title = '', ...rest]: readonly string[]): readonly string[] {
  return [title.replace(/ · [0-9A-Z]{6}( · .*)?$/, ''), ...rest];
}

function rateLimitRests(pass: () => void) {
  let asked = 0;
  const rest = () => {
    asked = 0;
    pass();
  };
  const take = () => {
    asked += 1;
    if (asked === ASKED_AT_ONCE) rest();
  };
  return { take, rest };
}

function withinRateLimit(slack: SlackSimulator, take: () => void): SlackSimulator {
  return {
    ...slack,
    command: (...words) => {
      take();
      return slack.command(...words);
    },
    submit: (...values) => {
      take();
      return slack.submit(...values);
    },
  };
}

/** Polls until `look` returns a value. A pause of the machine does not use up the number of polls. */
export async function until<T>(look: () => T | null | undefined, what: string): Promise<T> {
  for (let left = MOST_POLLS; left > 0; left -= 1) {
    const seen = look();
    if (seen !== null && seen !== undefined) return seen;
    await pause(3);
  }
  throw new Error(`Timed out waiting for ${what}`);
}
