import { setTimeout as pause } from 'node:timers/promises';
import type { View, ViewValues } from '../../sandbox/protocol.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import type { SlackSimulator } from '../../sandbox/slack/simulator.ts';
import { linesOf } from './reading.ts';

/** An operator, who may ask for everything. */
export const ANA = 'U0ANA00001';
const CHANNEL = 'ops';
const CARDS = 'db-approvals';
const STILL = /: (waiting for approval|approved|running)$/;
const LATEST_MS = 10_000;

/** So often somebody asks before a while passes: the bot bears with no more from one person. */
const ASKED_AT_ONCE = 15;

/** What Ana says to the bot, and what she reads in answer: lines of text. */
export function counterOf(stand: SlackSimulator, rest: () => void) {
  const slack = unhurried(stand, rest);
  const privately = () =>
    slack.messages(CHANNEL).filter(({ ephemeralFor }) => ephemeralFor === ANA);
  const cards = () => slack.messages(CARDS).filter(({ threadTs }) => threadTs === null);

  /** The private answer that was not there before. */
  async function answerTo(what: string, act: () => Promise<unknown>): Promise<StoredMessage> {
    const before = privately().length;
    await act();
    return until(() => privately()[before], `an answer to “${what}”`);
  }

  /** A form, once it has its fields; what it opens for may have to be read first. */
  function formNow(callbackId: string): View | null {
    const view = slack.clientState(ANA).views.find((each) => each.callbackId === callbackId);
    return view && view.submit !== null ? view : null;
  }

  async function form(line: string, callbackId: string): Promise<View> {
    await slack.command(ANA, CHANNEL, line);
    return until(() => formNow(callbackId), `the form of “${line}”`);
  }

  /** What a line brings: an answer, or a form where something is missing in it. */
  async function answerOrForm(line: string, callbackId: string) {
    const before = privately().length;
    await slack.command(ANA, CHANNEL, line);
    const found = () => {
      const [answer, view] = [privately()[before] ?? null, formNow(callbackId)];
      return answer || view ? { answer, view } : null;
    };
    return until(found, `an answer to “${line}”`);
  }

  /** The form in which what a line asked for can be changed. */
  async function editing(line: string, callbackId: string): Promise<View> {
    const { answer, view } = await answerOrForm(line, callbackId);
    if (view || !answer) return view ?? form(line, callbackId);
    const place = { in: 'message', channel: answer.channel, ts: answer.ts } as const;
    await slack.click(ANA, place, 'change.edit');
    return until(() => formNow(callbackId), `the form to edit “${line}”`);
  }

  /** The errors under the fields, or the answer that a whole form brings. */
  async function submitted(viewId: string, values: ViewValues) {
    const before = privately().length;
    await slack.submit(ANA, viewId, values);
    const view = slack.clientState(ANA).views.find(({ id }) => id === viewId);
    if (view) return { errors: view.errors, lines: [] };
    const answered = () => privately()[before] ?? mending(viewId);
    const answer = await until(answered, 'the answer to a form');
    if ('ts' in answer) return { errors: {}, lines: linesOf(answer.blocks) };
    await slack.close(ANA, answer.id);
    return { errors: {}, lines: [`opens again: ${linesOf(answer.blocks)[0]}`] };
  }

  /** The form that opens again, with what has to be mended above its fields. */
  function mending(taken: string): View | null {
    const view = slack.clientState(ANA).views.find(({ id }) => id !== taken);
    return view && view.submit !== null ? view : null;
  }

  /** Presses the button below a preview, and waits until its card says how it ended. */
  async function confirmed(preview: StoredMessage): Promise<StoredMessage> {
    const before = cards().length;
    const place = { in: 'message', channel: preview.channel, ts: preview.ts } as const;
    await slack.click(ANA, place, 'change.confirm');
    const ended = () => {
      const card = cards()[before];
      const lines = linesOf(card?.blocks ?? []);
      const waits = lines.some((line) => line.includes('requested a pause'));
      return card && (waits || !STILL.test(lines[0] ?? '')) ? card : null;
    };
    return until(ended, `an ending of ${linesOf(preview.blocks)[0]}`);
  }

  /** What the button below the card of a creation shows, once. */
  async function revealed({ channel, ts }: StoredMessage): Promise<string> {
    await slack.click(ANA, { in: 'message', channel, ts }, 'change.reveal');
    const modal = () => slack.clientState(ANA).views.at(-1);
    const view = await until(() => modal() ?? null, 'the password');
    await slack.close(ANA, view.id);
    return linesOf(view.blocks)[0] ?? '';
  }

  const typed = (line: string) => answerTo(line, () => slack.command(ANA, CHANNEL, line));
  return {
    typed,
    form,
    editing,
    answerOrForm,
    submitted,
    confirmed,
    answerTo,
    revealed,
    linesIn: ({ blocks }: StoredMessage) => linesOf(blocks),
    said: async (line: string) => linesOf((await typed(line)).blocks),
    /** The same message as it is drawn now. */
    drawn: ({ channel, ts }: StoredMessage) =>
      linesOf(slack.messages(channel).find((message) => message.ts === ts)?.blocks ?? []),
  };
}

function unhurried(slack: SlackSimulator, rest: () => void): SlackSimulator {
  let asked = 0;
  const take = () => {
    asked += 1;
    if (asked % ASKED_AT_ONCE === 0) rest();
  };
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

/** Looks until there is something; what is late on a loaded machine is not wrong. */
export async function until<T>(look: () => T | null | undefined, what: string): Promise<T> {
  const end = performance.now() + LATEST_MS;
  while (performance.now() < end) {
    const seen = look();
    if (seen !== null && seen !== undefined) return seen;
    await pause(3);
  }
  throw new Error(`In vain waited for ${what}`);
}
