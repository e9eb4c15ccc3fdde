import { useEffect, useState } from 'react';
import type { RecordedRequest, RequestContent } from '../../protocol.ts';
import { read } from '../server.ts';
import { useSession } from '../session.ts';
import { formatOf } from '../text/slack-date.ts';

export function RequestList({ requests }: { requests: readonly RecordedRequest[] }) {
  return (
    <section>
      <h3>API requests</h3>
      {requests.length === 0 && <p className="quiet">No requests to the APIs yet.</p>}
      <ul className="requests" aria-label="Requests">
        {requests.map((request) => (
          <li key={`${request.api} ${request.key}`}>
            <RequestDetails request={request} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function statusClass(status: number | null): string {
  if (status === null || status >= 500) return 'bad';
  return status >= 400 ? 'refused' : 'good';
}

const clock = (timeZone: string) => formatOf('en-GB', { timeZone, timeStyle: 'medium' });

function RequestDetails({ request }: { request: RecordedRequest }) {
  const { timeZone } = useSession().readDates();
  const { at, api, operation, method, path, status, fault } = request;
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className={`status ${statusClass(status)}`}>{status ?? 'none'}</span>
        <b>{operation}</b>
        <span className="quiet">{api}</span>
        {fault !== null && <span className="fault">{fault}</span>}
        <time dateTime={at}>{clock(timeZone).format(new Date(at))}</time>
        <code className="request-path">
          {method} {path}
        </code>
      </summary>
      {isOpen && <Content request={request} />}
    </details>
  );
}

function Content({ request: { api, key, status } }: { request: RecordedRequest }) {
  const [content, setContent] = useState<RequestContent | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the reply comes with the status
  useEffect(() => {
    let isStale = false;
    read<RequestContent>(`panel/requests/${api}/${key}`).then(
      (answer) => {
        if (isStale) return;
        setContent(answer);
        setProblem(null);
      },
      (error: unknown) => {
        if (!isStale) setProblem(error instanceof Error ? error.message : String(error));
      },
    );
    return () => {
      isStale = true;
    };
  }, [api, key, status]);
  if (problem !== null) return <p role="alert">This request cannot be read: {problem}</p>;
  if (content === null) return <p role="status">Reading…</p>;
  return (
    <>
      <h4>Request</h4>
      <JsonBlock value={content.body} />
      <h4>Reply</h4>
      <JsonBlock value={content.reply} />
    </>
  );
}

function JsonBlock({ value }: { value: unknown }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the text scrolls, so the keyboard must reach it
  return <pre tabIndex={0}>{formatJson(value)}</pre>;
}

const formatJson = (value: unknown): string =>
  value === null || value === undefined ? '(empty)' : JSON.stringify(value, null, 2);
