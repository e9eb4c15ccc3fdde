/** How Slack limits the calls of a method in one workspace. */
export type Tier = 'tier 1' | 'tier 2' | 'tier 3' | 'tier 4' | 'special' | 'posting';

/** The methods that the simulator answers, each with its tier. Source: sandbox/README.md#methods */
export const METHOD_TIERS = {
  'apps.connections.open': 'tier 1',
  'auth.test': 'special',
  'auth.teams.list': 'tier 2',
  'blocks.validate': 'special',
  'bots.info': 'tier 3',
  'chat.getPermalink': 'special',
  'chat.postEphemeral': 'tier 4',
  'chat.postMessage': 'posting',
  'chat.update': 'tier 3',
  'conversations.history': 'tier 3',
  'conversations.info': 'tier 3',
  'conversations.list': 'tier 2',
  'conversations.members': 'tier 4',
  'conversations.open': 'tier 3',
  'conversations.replies': 'tier 3',
  'files.completeUploadExternal': 'tier 4',
  'files.getUploadURLExternal': 'tier 4',
  'usergroups.list': 'tier 2',
  'usergroups.users.list': 'tier 2',
  'users.info': 'tier 4',
  'users.list': 'tier 2',
  'views.open': 'tier 4',
  'views.publish': 'tier 4',
  'views.update': 'tier 4',
} as const satisfies Readonly<Record<string, Tier>>;

export type MethodName = keyof typeof METHOD_TIERS;
