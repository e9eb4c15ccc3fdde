import type { RecordedRequest } from '../../protocol.ts';
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
            <RequestLine request={request} />
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

function RequestLine({ request }: { request: RecordedRequest }) {
  const { timeZone } = useSession().readDates();
  const { at, api, operation, method, path, status, fault } = request;
  return (
    <div className="request">
      <span className={`status ${statusClass(status)}`}>{status ?? 'none'}</span>
      <b>{operation}</b>
      <span className="quiet">{api}</span>
      {fault !== null && <span className="fault">{fault}</span>}
      <time dateTime={at}>{clock(timeZone).format(new Date(at))}</time>
      <code className="request-path">
        {method} {path}
      </code>
    </div>
  );
}
