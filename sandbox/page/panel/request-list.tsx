import type { RecordedRequest } from '../../protocol.ts';
import { useSession } from '../session.ts';

export function RequestList({ requests }: { requests: readonly RecordedRequest[] }) {
  return (
    <section>
      <h3>API requests</h3>
      {requests.length === 0 && <p className="quiet">No requests to the APIs yet.</p>}
      <ul className="requests" aria-label="Requests">
        {requests.map((request) => (
          <li key={`${request.at} ${request.method} ${request.path}`}>
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

const clock = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' });

function RequestDetails({ request }: { request: RecordedRequest }) {
  const { timeZone } = useSession().readDates();
  const { at, api, operation, method, path, body, status, reply, fault } = request;
  return (
    <details>
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
      <h4>Request</h4>
      <pre>{formatJson(body)}</pre>
      <h4>Reply</h4>
      <pre>{formatJson(reply)}</pre>
    </details>
  );
}

const formatJson = (value: unknown): string =>
  value === null || value === undefined ? '(empty)' : JSON.stringify(value, null, 2);
