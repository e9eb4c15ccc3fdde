import type { Workspace } from './workspace.ts';

/** Slack writes the three characters that steer its own markup as entities. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** What Slack makes of typed words: names become ids, addresses links, the rest is escaped. */
export function resolved(workspace: Workspace, typed: string): string {
  return typed
    .split(/(\s+)/)
    .map((word) => mention(workspace, word) ?? link(word) ?? escaped(word))
    .join('');
}

function mention(workspace: Workspace, word: string): string | null {
  const [, sign, name = '', rest = ''] = word.match(/^([@#])([\w-]+)([.,;:!?)]*)$/) ?? [];
  if (sign === '#') {
    const conversation = workspace.channels.find((one) => one.kind !== 'dm' && one.name === name);
    if (!conversation) return null;
    return `<#${conversation.id}|${conversation.kind === 'private' ? '' : conversation.name}>${rest}`;
  }
  if (sign !== '@') return null;
  if (['channel', 'here', 'everyone'].includes(name)) return `<!${name}>${rest}`;
  const member = workspace.members.find((one) => one.name === name.toLowerCase());
  if (member) return `<@${member.id}>${rest}`;
  const group = workspace.groups.find((one) => one.handle === name);
  return group ? `<!subteam^${group.id}|@${group.handle}>${rest}` : null;
}

function link(word: string): string | null {
  return /^https?:\/\/[^\s<>|]+$/.test(word) ? `<${escaped(word)}>` : null;
}
