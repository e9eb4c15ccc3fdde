import { Fragment, type UIEvent, useLayoutEffect, useRef } from 'react';
import type { Message } from '../../protocol.ts';
import { useSession } from '../session.ts';
import { groupMessages } from './groups.ts';
import { MessageRow } from './message.tsx';

interface Props {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly inThread: boolean;
  readonly intro: string;
}

const NEAR_PX = 80;

/** Follows new messages while the person is at the end, but not while they read older ones. */
export function MessageList({ name, messages, inThread, intro }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const previous = useRef({ top: 0, height: 0 });

  useLayoutEffect(() => {
    const box = scroller.current;
    const grown = new ResizeObserver(() => {
      if (box !== null && atEnd.current) box.scrollTop = box.scrollHeight;
    });
    if (inside.current !== null) grown.observe(inside.current);
    if (box !== null) grown.observe(box);
    return () => grown.disconnect();
  }, []);

  // The person's own messages and ephemeral replies always come into view.
  const last = messages.at(-1);
  const { client, address, readDates } = useSession();
  const { me } = client;
  const ownTs = last !== undefined && (last.ephemeral || last.author === me.id) ? last.ts : null;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (ownTs === null || box === null) return;
    atEnd.current = true;
    box.scrollTop = box.scrollHeight;
  }, [ownTs]);

  const linked = address.message;
  useLayoutEffect(() => {
    const message = scroller.current?.querySelector(`[data-ts="${linked}"]`);
    if (!message) return;
    atEnd.current = false;
    message.scrollIntoView({ block: 'start' });
  }, [linked]);

  // A change of the list's height also causes scroll events. Only an upward scroll in a list of
  // unchanged height means that the person left the end.
  function onScroll({ currentTarget: box }: UIEvent<HTMLDivElement>) {
    const { scrollTop: top, scrollHeight: height } = box;
    const near = height - top - box.clientHeight < NEAR_PX;
    const left = top < previous.current.top && height === previous.current.height;
    atEnd.current = near || (atEnd.current && !left);
    previous.current = { top, height };
  }

  return (
    <div ref={scroller} className="messages" role="log" aria-label={name} onScroll={onScroll}>
      <div ref={inside} className="messages-inside">
        {intro !== '' && <p className="intro">{intro}</p>}
        {groupMessages(messages, readDates()).map(({ message, first, day }) => (
          <Fragment key={message.ts}>
            {day !== null && !inThread && (
              <h3 className="day">
                <span>{day}</span>
              </h3>
            )}
            <MessageRow {...{ message, first, inThread }} />
          </Fragment>
        ))}
      </div>
    </div>
  );
}
