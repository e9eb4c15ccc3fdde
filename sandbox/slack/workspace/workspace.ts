/** Slack's own user, which shows why a command failed. */
export const SLACKBOT = 'USLACKBOT';
/** Everyone's messages with Slackbot; each person sees only their own. */
export const SLACKBOT_CHANNEL = 'DSLACKBOT';

/** The people, groups and channels of a workspace. The simulator changes its own copy. */
export interface Workspace {
  readonly teamId: string;
  readonly name: string;
  readonly domain: string;
  readonly appId: string;
  readonly botId: string;
  readonly botUserId: string;
  readonly botName: string;
  readonly members: Member[];
  readonly groups: Group[];
  readonly channels: Conversation[];
  /** On the free plan Slack has no user groups. */
  readonly plan?: 'free';
  /** The organization of Enterprise Grid to which this workspace belongs. */
  readonly enterpriseId?: string;
  /**
   * The app is installed for the whole organization, not for this workspace: payloads name people by their second
   * ids, interactions no workspace, and a list needs `team_id`.
   */
  readonly orgWide?: boolean;
  /** The other workspaces of the organization to which the app is added. */
  readonly sisters?: readonly string[];
}

export interface Member {
  readonly id: string;
  /** The handle for mentions, without the @. */
  readonly name: string;
  realName: string;
  title: string;
  kind: 'member' | 'guest' | 'external' | 'bot';
  deleted: boolean;
  /** The id of another workspace makes this an external user. */
  readonly teamId: string;
  /** The organization of that workspace; that of this workspace for its own people. */
  readonly enterpriseId?: string;
  /** The second id of this person in the organization, which lists can contain. */
  readonly enterpriseUserId?: string;
  /** Europe/Berlin when absent. */
  timezone?: string;
}

export interface Group {
  readonly id: string;
  readonly handle: string;
  readonly name: string;
  users: string[];
  disabled: boolean;
  /** Its workspace, if it is a sister. */
  readonly teamId?: string;
  /** Unix time in seconds of the last change. */
  updatedAt: number;
}

export interface Conversation {
  readonly id: string;
  name: string;
  readonly kind: 'public' | 'private' | 'dm' | 'external';
  readonly topic: string;
  readonly members: string[];
  archived: boolean;
  /** The settings of the channel let no app post there. */
  restricted?: boolean;
  /** Its workspaces, if it is one of a sister or shared within the organization. */
  readonly teamIds?: readonly string[];
  /** The workspace of another organization that made this channel; its events carry this id. */
  readonly hostedBy?: string;
  /** The names before it was renamed. */
  formerNames?: readonly string[];
}

export function memberOf(workspace: Workspace, id: string): Member | undefined {
  return workspace.members.find((member) => member.id === id || member.enterpriseUserId === id);
}

/** The id by which payloads name a person. */
export function payloadId({ orgWide }: Workspace, { id, enterpriseUserId = id }: Member): string {
  return orgWide ? enterpriseUserId : id;
}

/** The workspaces to which the app is added. */
export const workspacesOf = ({ teamId, sisters = [] }: Workspace): readonly string[] => [
  teamId,
  ...sisters,
];

export const teamsOf = ({ teamId }: Workspace, { teamIds = [teamId] }: Conversation) => teamIds;

/** The workspace in which a person is in a conversation. */
export function teamAt(workspace: Workspace, conversation: Conversation, person: Member): string {
  if (!workspace.orgWide) return workspace.teamId;
  const all = conversation.kind === 'dm' ? [person.teamId] : teamsOf(workspace, conversation);
  return all.find((team) => team === person.teamId) ?? all[0] ?? workspace.teamId;
}

/** The organization of a person; undefined outside of Enterprise Grid. */
export function enterpriseOf(workspace: Workspace, person: Member): string | undefined {
  const isOwn = person.teamId === workspace.teamId;
  return person.enterpriseId ?? (isOwn ? workspace.enterpriseId : undefined);
}

/** The name of the time zone of a person. */
export const timezoneOf = ({ timezone = 'Europe/Berlin' }: Member): string => timezone;

/** False for people of other organizations, who get no slash commands, shortcuts and Home tab. */
export function isColleague(workspace: Workspace, person: Member): boolean {
  const enterprise = enterpriseOf(workspace, person);
  const isOfOrganization = enterprise !== undefined && enterprise === workspace.enterpriseId;
  return person.teamId === workspace.teamId || isOfOrganization;
}

export function groupOf(workspace: Workspace, idOrHandle: string): Group | undefined {
  const handle = idOrHandle.replace(/^@/, '');
  return workspace.groups.find((group) => group.id === idOrHandle || group.handle === handle);
}

export function conversationOf(workspace: Workspace, idOrName: string): Conversation | undefined {
  const name = idOrName.replace(/^#/, '');
  return workspace.channels.find(
    (conversation) =>
      conversation.id === idOrName || (conversation.kind !== 'dm' && conversation.name === name),
  );
}

export function isIn(conversation: Conversation, memberId: string): boolean {
  return conversation.members.includes(memberId);
}

const isAppChannel = ({ botUserId }: Workspace, conversation: Conversation): boolean =>
  conversation.kind === 'dm' && isIn(conversation, botUserId);

/** The direct conversation of the app and one person, which Slack creates when first used. */
export function directConversation(workspace: Workspace, memberId: string): Conversation {
  const found = workspace.channels.find(
    (conversation) => isAppChannel(workspace, conversation) && isIn(conversation, memberId),
  );
  if (found) return found;
  const conversation: Conversation = {
    id: `D${memberId.slice(1)}`,
    name: workspace.botName,
    kind: 'dm',
    topic: '',
    members: [memberId, workspace.botUserId],
    archived: false,
  };
  workspace.channels.push(conversation);
  return conversation;
}

/** True when a channel is shared with the app, so Slack does not set is_stranger. */
export function sharesConversation(workspace: Workspace, memberId: string): boolean {
  return workspace.channels.some(
    (conversation) =>
      conversation.kind !== 'dm' &&
      isIn(conversation, memberId) &&
      isIn(conversation, workspace.botUserId),
  );
}
