import type { Config } from './load-config.ts';

/** A channel of the configuration, by name or id, and the fields that name it. */
export interface ChannelUse {
  readonly word: string;
  readonly places: readonly string[];
  /** Costs are posted here, which other workspaces must not read. */
  readonly forCosts: boolean;
}

export type ChannelConfig = Pick<Config, 'channels' | 'policy' | 'digests' | 'budgets'>;

/** Returns each channel of the configuration once. Source: docs/operating.md#check-the-installation. */
export function channelUses({
  channels,
  policy,
  digests,
  budgets,
}: ChannelConfig): readonly ChannelUse[] {
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
