import type { ChildProcess } from 'node:child_process';
import { numberOf, record } from '../json.ts';

interface BotActivity {
  /** The end of its next sleep in milliseconds, by the clock of the sandbox; null without one. */
  readonly sleepsUntil: number | null;
  /** How long its event loop has been active since its start, in milliseconds. */
  readonly activeMs: number;
}

/**
 * Moves the clock of the bot, and returns what the bot does afterwards. A bot that exits meanwhile
 * restarts with the new time.
 */
export function moveBot(bot: ChildProcess, offsetMs: number): Promise<BotActivity> {
  if (!bot.connected) return Promise.resolve({ sleepsUntil: null, activeMs: 0 });
  return new Promise((resolve) => {
    const done = (answer?: unknown) => {
      bot.off('message', done);
      bot.off('exit', done);
      const { sleepsUntil, activeMs } = record(answer);
      resolve({ sleepsUntil: numberOf(sleepsUntil), activeMs: numberOf(activeMs) ?? 0 });
    };
    bot.once('message', done);
    bot.once('exit', done);
    bot.send({ offsetMs }, (error) => {
      if (error) done();
    });
  });
}
