import type { Workspace } from './workspace/workspace.ts';

/** The text with the three control characters of mrkdwn as entities. */
export function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A typed message as Slack stores it: names become ids, URLs become links, the rest is escaped. */
export function encodeTypedText(workspace: Workspace, typed: string): string {
  return typed
    .split(/(\s+)/)
    .map((word) => mention(workspace, word) ?? link(word) ?? escapeMrkdwn(word))
    .join('');
}

function mention(workspace: Workspace, word: string): string | null {
  const [, sign, name = '', rest = ''] = word.match(/^([@#])([\w-]+)([.,;:!?)]*)$/) ?? [];
  if (sign === '#') {
    const channel = workspace.channels.find((one) => one.kind !== 'dm' && one.name === name);
    if (!channel) return null;
    return `<#${channel.id}|${channel.kind === 'private' ? '' : channel.name}>${rest}`;
  }
  if (sign !== '@') return null;
  if (['channel', 'here', 'everyone'].includes(name)) return `<!${name}>${rest}`;
  const member = workspace.members.find((one) => one.name === name.toLowerCase());
  if (member) return `<@${member.id}>${rest}`;
  const group = workspace.groups.find((one) => one.handle === name);
  return group ? `<!subteam^${group.id}|@${group.handle}>${rest}` : null;
}

function link(word: string): string | null {
  return /^https?:\/\/[^\s<>|]+$/.test(word) ? `<${escapeMrkdwn(word)}>` : null;
}
