import { useState } from 'react';
import type { Channel } from '../../protocol.ts';
import { useSession } from '../session.ts';
import { isCommand } from './commands.ts';
import { useDraft } from './drafts.ts';

export interface Where {
  readonly channel: Channel;
  readonly threadTs: string | null;
}

/** The composer's text and what becomes of it. What could not be delivered comes back. */
export function useSending({ channel, threadTs }: Where) {
  const { screen, deliver, notices } = useSession();
  const [text, setText] = useDraft([screen.me.id, channel.id, threadTs].join(' '));
  const [sending, setSending] = useState(false);

  async function send() {
    const line = text.trim();
    if (line === '' || sending) return;
    const [word = ''] = line.split(/\s/, 1);
    if (isCommand(line) && threadTs !== null) {
      notices.say({ channel: channel.id, threadTs }, `${word} is not supported in threads. Sorry!`);
      return;
    }
    setText('');
    setSending(true);
    const path = isCommand(line) ? 'command' : 'message';
    const thread = threadTs === null ? {} : { threadTs };
    const body = { as: screen.me.id, channel: channel.id, text: line, ...thread };
    const { error } = await deliver(path, body);
    setSending(false);
    if (error === null) return;
    setText(line);
    notices.say({ channel: channel.id, threadTs }, error);
  }

  return { text, setText, sending, send };
}
