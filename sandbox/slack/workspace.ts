/** People, groups and channels of the workspace; the stand-in changes its own copy. */
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
  readonly channels: Room[];
}

export interface Member {
  readonly id: string;
  /** The handle that others type after an @. */
  readonly name: string;
  realName: string;
  title: string;
  kind: 'member' | 'guest' | 'stranger' | 'bot';
  deleted: boolean;
  /** Another workspace's id makes the person a stranger, whatever they may see here. */
  readonly teamId: string;
  /** Where the clocks of this person are; most are in Berlin. */
  timezone?: string;
}

export interface Group {
  readonly id: string;
  readonly handle: string;
  readonly name: string;
  users: string[];
  disabled: boolean;
  /** In seconds, as Slack counts; each change of the members moves it on. */
  updatedAt: number;
}

export interface Room {
  readonly id: string;
  name: string;
  readonly kind: 'public' | 'private' | 'dm' | 'external';
  readonly topic: string;
  readonly members: string[];
  archived: boolean;
  /** What it was called before it was renamed. */
  formerNames?: readonly string[];
}

export function memberOf(workspace: Workspace, id: string): Member | undefined {
  return workspace.members.find((member) => member.id === id);
}

export function groupOf(workspace: Workspace, idOrHandle: string): Group | undefined {
  const handle = idOrHandle.replace(/^@/, '');
  return workspace.groups.find((group) => group.id === idOrHandle || group.handle === handle);
}

export function roomOf(workspace: Workspace, idOrName: string): Room | undefined {
  const name = idOrName.replace(/^#/, '');
  return workspace.channels.find(
    (room) => room.id === idOrName || (room.kind !== 'dm' && room.name === name),
  );
}

export function isIn(room: Room, memberId: string): boolean {
  return room.members.includes(memberId);
}

/** The conversation between the app and one person; Slack makes it when first needed. */
export function directRoom(workspace: Workspace, memberId: string): Room {
  const found = workspace.channels.find((room) => room.kind === 'dm' && isIn(room, memberId));
  if (found) return found;
  const room: Room = {
    id: `D${memberId.slice(1)}`,
    name: workspace.botName,
    kind: 'dm',
    topic: '',
    members: [memberId, workspace.botUserId],
    archived: false,
  };
  workspace.channels.push(room);
  return room;
}

/** Slack calls a person a stranger only while no channel is shared with the app. */
export function sharesARoom(workspace: Workspace, memberId: string): boolean {
  return workspace.channels.some(
    (room) => room.kind !== 'dm' && isIn(room, memberId) && isIn(room, workspace.botUserId),
  );
}

export function personKind(member: Member): string {
  return member.deleted ? 'deactivated' : member.kind;
}
