import type { RecordedRequest } from '../../protocol.ts';

export function Requests({ requests }: { requests: readonly RecordedRequest[] }) {
  return (
    <section>
      <h3>Requests</h3>
      {requests.length === 0 && <p className="quiet">Nothing was asked of either API yet.</p>}
      <ul className="requests" aria-label="Requests">
        {requests.map((request) => (
          <li key={`${request.at} ${request.method} ${request.path}`}>
            <Request request={request} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function toneOf(status: number | null): string {
  if (status === null || status >= 500) return 'bad';
  return status >= 400 ? 'refused' : 'good';
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

function Request({ request }: { request: RecordedRequest }) {
  const { at, api, operation, method, path, body, status, reply, fault } = request;
  return (
    <details>
      <summary>
        <span className={`status ${toneOf(status)}`}>{status ?? 'none'}</span>
        <b>{operation}</b>
        <span className="quiet">{api}</span>
        {fault !== null && <span className="fault">{fault}</span>}
        <time dateTime={at}>{clock.format(new Date(at))}</time>
        <code className="request-path">
          {method} {path}
        </code>
      </summary>
      <h4>Request</h4>
      <pre>{pretty(body)}</pre>
      <h4>Reply</h4>
      <pre>{pretty(reply)}</pre>
    </details>
  );
}

const pretty = (value: unknown): string =>
  value === null || value === undefined ? '(nothing)' : JSON.stringify(value, null, 2);
