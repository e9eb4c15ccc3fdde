import type { z } from 'zod';
import { ApiError } from '../../base/errors.ts';
import type { Reply } from '../../base/http.ts';
import { pathId } from '../../base/http.ts';
import { matchingId } from '../../base/http-rows.ts';
import type { OptionalCall } from '../../http/optional/cached-read.ts';
import { createDateFormats, notStored, type UsageDateForm } from '../usage-dates.ts';
import {
  activityReadings,
  BackupReadings,
  EndpointReading,
  EndpointReadings,
  KeyReading,
  OrganizationReadings,
  PipeReadings,
} from './readings.ts';
import { ScalingSchedule } from './schedule.ts';
import { ServiceReading, ServiceReadings } from './service-reading.ts';

/** The names of the requests, for logs, metrics and traces. */
export type CloudReadOperation =
  | 'listOrganizations'
  | 'listServices'
  | 'getService'
  | 'getScalingSchedule'
  | 'listBackups'
  | 'listPipes'
  | 'listReversePrivateEndpoints'
  | 'getReversePrivateEndpoint'
  | 'listActivities'
  | 'getKey';

interface ReadRequest extends OptionalCall {
  readonly operation: CloudReadOperation;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** Sends a read with the HTTP client of the contract, so that both use one request budget. */
export type SendRead = <S extends z.ZodType>(
  request: ReadRequest,
  schema: S,
) => Promise<Reply<z.output<S>>>;

export interface ReadTargets {
  readonly organizationId: string;
  readonly keyId: string;
  /** The form of the dates of the audit log; with `auto`, a date, and a date-time if it is refused. */
  readonly dates: UsageDateForm | 'auto';
}

/** UTC days, both included. */
export interface ActivityPeriod {
  readonly from_date: string;
  readonly to_date: string;
}

/** The requests of the optional reads, without their capabilities. They throw like the client. */
export function createReadRequests(send: SendRead, { organizationId, keyId, dates }: ReadTargets) {
  const root = `/v1/organizations/${pathId('configuration', 'organizationId', organizationId)}`;
  const withDates = createDateFormats({ ...notStored(dates), load: async () => 'date' });

  async function get<S extends z.ZodType>(request: ReadRequest, schema: S): Promise<z.output<S>> {
    return (await send(request, schema)).result;
  }

  function ofService<S extends z.ZodType>(operation: CloudReadOperation, rest: string, schema: S) {
    return (serviceId: string, call: OptionalCall): Promise<z.output<S>> => {
      const id = pathId(operation, 'serviceId', serviceId);
      return get({ operation, path: `${root}/services/${id}${rest}`, ...call }, schema);
    };
  }

  const schedule = ofService('getScalingSchedule', '/scalingSchedule', ScalingSchedule);

  return {
    organizations: (call: OptionalCall) =>
      get(
        { operation: 'listOrganizations', path: '/v1/organizations', ...call },
        OrganizationReadings,
      ),

    services: (call: OptionalCall) =>
      get({ operation: 'listServices', path: `${root}/services`, ...call }, ServiceReadings),

    service: (serviceId: string, call: OptionalCall) =>
      ofService('getService', '', matchingId(ServiceReading, 'id', serviceId))(serviceId, call),

    // The server answers 404 for a service without a schedule.
    schedule: (serviceId: string, call: OptionalCall) =>
      schedule(serviceId, call).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404 && error.kind === 'answer')
          return null;
        throw error;
      }),

    backups: ofService('listBackups', '/backups', BackupReadings),
    pipes: ofService('listPipes', '/pipes', PipeReadings),
    endpoints: ofService('listReversePrivateEndpoints', ENDPOINTS, EndpointReadings),

    endpoint: (serviceId: string, endpointId: string, call: OptionalCall) => {
      const operation = 'getReversePrivateEndpoint';
      const id = pathId(operation, 'endpointId', endpointId);
      const reading = matchingId(EndpointReading, 'id', endpointId);
      return ofService(operation, `${ENDPOINTS}/${id}`, reading)(serviceId, call);
    },

    activities: (period: ActivityPeriod, call: OptionalCall) =>
      withDates(period, (query) =>
        get(
          { operation: 'listActivities', path: `${root}/activities`, query, ...call },
          activityReadings(keyId),
        ),
      ),

    key: (call: OptionalCall) => {
      const path = `${root}/keys/${pathId('getKey', 'keyId', keyId)}`;
      return get({ operation: 'getKey', path, ...call }, KeyReading);
    },
  };
}

export type ReadRequests = ReturnType<typeof createReadRequests>;

const ENDPOINTS = '/pipesReversePrivateEndpoints';
