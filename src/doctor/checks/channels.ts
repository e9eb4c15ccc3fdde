import type { Config } from '../../config/load-config.ts';
import { nearestWord } from '../../policy/problem.ts';
import type { ChannelFacts } from '../../slack/slack-checks.ts';
import { type CheckLine, failed, ok, skipped, warning } from '../line.ts';
import { slackLine } from '../slack-errors.ts';
import type { TimedResult } from '../with-timeout.ts';

interface Named {
  readonly word: string;
  readonly places: readonly string[];
  /** Figures are posted there, which nobody of another workspace may read. */
  readonly forCosts: boolean;
}

type Naming = Pick<Config, 'channels' | 'policy' | 'digests' | 'budgets'>;

/** The bot in every channel that the file names. */
export function channelLines(
  config: Naming,
  rooms: TimedResult<readonly ChannelFacts[]>,
  botName: string,
): readonly CheckLine[] {
  const named = namedChannels(config);
  if (named.length === 0) return [skipped('channels', 'signalbox.yaml names none')];
  if (!rooms.ok) return [slackLine('channels', rooms.error)];
  return named.map((one) => channelLine(one, rooms.value, botName));
}

function channelLine(named: Named, rooms: readonly ChannelFacts[], botName: string): CheckLine {
  const { word, places, forCosts } = named;
  const where = places.join(', ');
  const room = roomOf(word, rooms);
  if (!room) return missing(named, rooms, botName);
  if (room.archived) {
    return failed(word, 'is archived', `unarchive it in Slack, or name another one at ${where}`);
  }
  if (!room.joined) {
    return failed(word, 'the bot is not in it', `in that channel type /invite @${botName}`);
  }
  if (room.outside && forCosts) {
    const fix = `name a channel of your own at ${where}: costs are never posted to that one`;
    return failed(word, 'is shared with another workspace', fix);
  }
  if (room.outside) {
    const fix = `name another one at ${where}, unless they are meant to see every change`;
    return warning(word, 'people of another workspace read along', fix);
  }
  return ok(word, `the bot is in it (${where})`);
}

function missing(
  { word, places }: Named,
  rooms: readonly ChannelFacts[],
  botName: string,
): CheckLine {
  const where = places.join(', ');
  const bare = word.replace(/^#/, '');
  const renamed = rooms.find(({ formerNames }) => formerNames.includes(bare));
  if (renamed) {
    const fix = `write '#${renamed.name}' at ${where}; the id ${renamed.id} outlives renaming`;
    return failed(word, `was renamed to #${renamed.name}`, fix);
  }
  const open = rooms.filter(({ archived }) => !archived).map(({ name }) => name);
  const near = word.startsWith('#') ? nearestWord(bare, open) : null;
  const meant = near === null ? '' : `did you mean '#${near}' at ${where}? `;
  const invite = `a private channel is seen only from the inside: /invite @${botName} there`;
  return failed(word, 'the bot sees no such channel', `${meant}${invite}`);
}

function roomOf(word: string, rooms: readonly ChannelFacts[]): ChannelFacts | undefined {
  const fitting = rooms.filter(({ id, name }) => id === word || `#${name}` === word);
  return fitting.find(({ archived }) => !archived) ?? fitting[0];
}

function namedChannels({ channels, policy, digests, budgets }: Naming): readonly Named[] {
  const all = [
    { word: channels.approvals, place: 'channels.approvals', costs: false },
    { word: channels.audit, place: 'channels.audit', costs: false },
    ...policy.rules.map(({ channel, place }) => ({
      word: channel,
      place: `policy[${place - 1}].channel`,
      costs: false,
    })),
    ...digests.map(({ channel }, at) => ({
      word: channel,
      place: `digests[${at}].channel`,
      costs: true,
    })),
    ...budgets.map(({ notify }, at) => ({
      word: notify,
      place: `budgets[${at}].notify`,
      costs: true,
    })),
  ].flatMap(({ word, ...rest }) => (word === null ? [] : [{ word, ...rest }]));
  return [...new Set(all.map(({ word }) => word))].map((word) => {
    const uses = all.filter((use) => use.word === word);
    return {
      word,
      places: uses.map(({ place }) => place),
      forCosts: uses.some(({ costs }) => costs),
    };
  });
}
