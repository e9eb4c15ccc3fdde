import type { Message } from '../../protocol.ts';
import { Menu } from '../elements/menu.tsx';
import { Icon } from '../frame/icon.tsx';
import { useSession } from '../session.ts';

/** What one can do with a message: answer in its thread, or use one of the app's shortcuts. */
export function MessageTools({ message, inThread }: { message: Message; inThread: boolean }) {
  const { screen, go, deliver, notices } = useSession();
  const { channel, ts, threadTs } = message;

  const items = screen.shortcuts
    .filter(({ kind }) => kind === 'message')
    .map(({ callbackId, name, description }) => ({
      id: callbackId,
      label: name,
      note: description,
      act: async () => {
        const body = { as: screen.me.id, callbackId, channel, ts };
        const { error } = await deliver('shortcut', body);
        if (error !== null) notices.say({ channel, threadTs: inThread ? threadTs : null }, error);
      },
    }));

  return (
    <div className="message-tools" role="toolbar" aria-label="Actions for this message">
      {!inThread && (
        <button
          type="button"
          className="icon-button"
          aria-label="Reply in thread"
          title="Reply in thread"
          onClick={() => go({ channel, thread: ts, home: false })}
        >
          <Icon name="reply" />
        </button>
      )}
      {items.length > 0 && (
        <Menu label="More actions" className="icon-button" items={items}>
          <Icon name="dots" />
        </Menu>
      )}
    </div>
  );
}
