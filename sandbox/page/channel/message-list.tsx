import { Fragment, type UIEvent, useLayoutEffect, useRef } from 'react';
import type { Message } from '../../protocol.ts';
import { useSession } from '../session.ts';
import { placed } from './groups.ts';
import { MessageRow } from './message.tsx';

interface Props {
  readonly name: string;
  readonly messages: readonly Message[];
  readonly inThread: boolean;
  readonly intro: string;
}

const NEAR_PX = 80;

/** Keeps the end in view while a person is there, and leaves them alone where they read. */
export function MessageList({ name, messages, inThread, intro }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const seen = useRef({ top: 0, height: 0 });

  useLayoutEffect(() => {
    const box = scroller.current;
    const grown = new ResizeObserver(() => {
      if (box !== null && atEnd.current) box.scrollTop = box.scrollHeight;
    });
    if (inside.current !== null) grown.observe(inside.current);
    if (box !== null) grown.observe(box);
    return () => grown.disconnect();
  }, []);

  // What a person just said, or is told in answer, comes into view wherever they were reading.
  const last = messages.at(-1);
  const { me } = useSession().screen;
  const mine = last !== undefined && (last.ephemeral || last.author === me.id) ? last.ts : null;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (mine === null || box === null) return;
    atEnd.current = true;
    box.scrollTop = box.scrollHeight;
  }, [mine]);

  // What grows below moves the end away without anybody scrolling, and what shrinks first is a step
  // up that nobody took; only one in a list that stays as it is leaves the end.
  function onScroll({ currentTarget: box }: UIEvent<HTMLDivElement>) {
    const { scrollTop: top, scrollHeight: height } = box;
    const near = height - top - box.clientHeight < NEAR_PX;
    const left = top < seen.current.top && height === seen.current.height;
    atEnd.current = near || (atEnd.current && !left);
    seen.current = { top, height };
  }

  return (
    <div ref={scroller} className="messages" role="log" aria-label={name} onScroll={onScroll}>
      <div ref={inside} className="messages-inside">
        {intro !== '' && <p className="intro">{intro}</p>}
        {placed(messages, new Date()).map(({ message, first, day }) => (
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
