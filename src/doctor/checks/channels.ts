import type { Config } from '../../config/load-config.ts';
import { nearestWord } from '../../policy/problem.ts';
import type { ChannelFacts } from '../../slack/slack-checks.ts';
import type { TimedResult } from '../../with-timeout.ts';
import { type CheckLine, failed, ok, skipped, slackLine, warning } from '../line.ts';

interface Named {
  readonly word: string;
  readonly places: readonly string[];
  /** Costs are posted here, which other workspaces must not read. */
  readonly forCosts: boolean;
}

type Naming = Pick<Config, 'channels' | 'policy' | 'digests' | 'budgets'>;

/** One line per configured channel: whether it exists and the bot is a member. */
export function channelLines(
  config: Naming,
  rooms: TimedResult<readonly ChannelFacts[]>,
  botName: string,
): readonly CheckLine[] {
  const named = namedChannels(config);
  if (named.length === 0) return [skipped('channels', 'none in signalbox.yaml')];
  if (!rooms.ok) return [slackLine('channels', rooms.error)];
  return named.map((one) => channelLine(one, rooms.value, botName));
}

function channelLine(named: Named, rooms: readonly ChannelFacts[], botName: string): CheckLine {
  const { word, places, forCosts } = named;
  const where = places.join(', ');
  const room = roomOf(word, rooms);
  if (!room) return missing(named, rooms, botName);
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
  return ok(word, `the bot is a member (${where})`);
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
    const fix = `write '#${renamed.name}' at ${where}, or the id ${renamed.id}, which never changes`;
    return failed(word, `was renamed to #${renamed.name}`, fix);
  }
  const open = rooms.filter(({ archived }) => !archived).map(({ name }) => name);
  const near = word.startsWith('#') ? nearestWord(bare, open) : null;
  const meant = near === null ? '' : `did you mean '#${near}' at ${where}? `;
  const invite = `for a private channel, type /invite @${botName} in it`;
  return failed(word, 'the bot does not see this channel', `${meant}${invite}`);
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
