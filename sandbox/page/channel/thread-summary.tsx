import type { Message } from '../../protocol.ts';
import { Avatar } from '../frame/avatar.tsx';
import { useSession } from '../session.ts';
import { slackDate } from '../text/slack-date.ts';
import { momentOf, repliesTo } from './groups.ts';

export function ThreadSummary({ message }: { message: Message }) {
  const { screen, go } = useSession();
  // What only one person sees is nobody's reply.
  const replies = repliesTo(screen.messages, message).filter(({ ephemeral }) => !ephemeral);
  const last = replies.at(-1);
  if (last === undefined) return null;
  const authors = new Map(replies.map((reply) => [reply.author, reply]));
  const when = slackDate(momentOf(last), '{date_short_pretty} at {time}', new Date());
  return (
    <button
      type="button"
      className="thread-summary"
      onClick={() => go({ channel: message.channel, thread: message.ts, home: false })}
    >
      {[...authors.values()].slice(0, 4).map(({ author, authorName, byBot }) => (
        <Avatar key={author} id={author} name={authorName} bot={byBot} small />
      ))}
      <b>{replies.length === 1 ? '1 reply' : `${replies.length} replies`}</b>
      <span>Last reply {when}</span>
    </button>
  );
}
