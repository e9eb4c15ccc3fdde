import type { TimedResult } from '../../base/errors.ts';
import { nearestWord } from '../../base/problem.ts';
import { type ChannelConfig, type ChannelUse, channelUses } from '../../config/channel-uses.ts';
import type { ChannelFacts } from '../../slack/slack-checks.ts';
import { type CheckLine, failed, ok, skipped, slackLine, warning } from '../line.ts';

interface ChannelResults {
  readonly rooms: TimedResult<readonly ChannelFacts[]>;
  /** The id of each word in the configuration; null for a name that was never resolved. */
  readonly ids: ReadonlyMap<string, string | null>;
}

/** The id of each configured channel: its own, or the one that Signalbox has stored for the name. */
export function channelIds(
  config: ChannelConfig,
  stored: ReadonlyMap<string, string>,
): ReadonlyMap<string, string | null> {
  const idOf = (word: string) => (word.startsWith('#') ? (stored.get(word) ?? null) : word);
  return new Map(channelUses(config).map(({ word }) => [word, idOf(word)]));
}

/** One line per configured channel: whether it exists and the bot is a member. */
export function channelLines(
  config: ChannelConfig,
  { rooms, ids }: ChannelResults,
  botName: string,
): readonly CheckLine[] {
  const named = channelUses(config);
  if (named.length === 0) return [skipped('channels', 'none in signalbox.yaml')];
  if (!rooms.ok) return [unread(rooms.error)];
  return named.map((one) => {
    const id = ids.get(one.word) ?? null;
    const room = roomOf(one.word, id, rooms.value);
    if (room) return channelLine(one, room, botName);
    return one.word.startsWith('#') && id !== null
      ? lost(one, id)
      : missing(one, rooms.value, botName);
  });
}

function unread(error: unknown): CheckLine {
  const line = slackLine('channels', error);
  if (line.status !== 'warning') return line;
  return {
    ...line,
    fix: `${line.fix}; channel ids in signalbox.yaml need no list of all channels`,
  };
}

function channelLine(
  { word, places, forCosts }: ChannelUse,
  room: ChannelFacts,
  botName: string,
): CheckLine {
  const where = places.join(', ');
  if (room.archived) {
    return failed(word, 'is archived', `unarchive it in Slack, or set another channel at ${where}`);
  }
  if (!room.joined) {
    return failed(word, 'the bot is not a member', `type /invite @${botName} in the channel`);
  }
  if (room.outside && forCosts) {
    const fix = `set an internal channel at ${where}: costs are not posted to shared channels`;
    return failed(word, 'is shared with another workspace', fix);
  }
  if (room.outside) {
    const fix = `set another channel at ${where}, unless that workspace may see every change`;
    return warning(word, 'is shared with another workspace', fix);
  }
  if (word.startsWith('#') && word !== `#${room.name}`) {
    const fix = `write ${room.id} at ${where}, or the id of the channel that you mean`;
    return warning(word, `means the channel that is now named #${room.name}`, fix);
  }
  const says = `the bot is a member (${where})`;
  return ok(
    word,
    word === room.id ? says : `${says}; recommended in place of the name: ${room.id}`,
  );
}

/** The channel that a name meant is gone. Another one with this name is not used. */
function lost({ word, places }: ChannelUse, id: string): CheckLine {
  const fix = `write the id of the channel to use at ${places.join(', ')}`;
  return failed(word, `means the channel ${id}, which the bot does not see any more`, fix);
}

function missing(
  { word, places }: ChannelUse,
  rooms: readonly ChannelFacts[],
  botName: string,
): CheckLine {
  const where = places.join(', ');
  const bare = word.replace(/^#/, '');
  const renamed = rooms.find(({ formerNames }) => formerNames.includes(bare));
  if (renamed) {
    const fix = `write '#${renamed.name}' at ${where}, or the id ${renamed.id}, which never changes`;
    return failed(word, `was renamed to #${renamed.name}`, fix);
  }
  const open = rooms.filter(({ archived }) => !archived).map(({ name }) => name);
  const near = word.startsWith('#') ? nearestWord(bare, open) : null;
  const meant = near === null ? '' : `did you mean '#${near}' at ${where}? `;
  const invite = `for a private channel, type /invite @${botName} in it`;
  return failed(word, 'the bot does not see this channel', `${meant}${invite}`);
}

function roomOf(
  word: string,
  id: string | null,
  rooms: readonly ChannelFacts[],
): ChannelFacts | undefined {
  if (id !== null) return rooms.find((room) => room.id === id);
  const fitting = rooms.filter(({ name }) => `#${name}` === word);
  return fitting.find(({ archived }) => !archived) ?? fitting[0];
}
