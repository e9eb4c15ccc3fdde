import type { Call } from '../../api/call.ts';
import type { Reply } from '../../api/reply.ts';
import type { Json } from '../../json.ts';
import { dayOf } from '../days.ts';
import { badRequest, success } from '../replies.ts';
import type { ActivityRecord, CloudState } from '../state.ts';

const FORMATS = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/,
};

/** The visible entries of the UTC days from `from_date` to `to_date`, oldest first. */
export function listActivities(cloud: CloudState, { query }: Call): Reply {
  const [from, to] = [query.get('from_date'), query.get('to_date')];
  const format = FORMATS[cloud.behaviour.activityDates];
  const wrong = [from, to].find((value) => value !== null && !format.test(value));
  if (wrong !== undefined) return badRequest(cloud, String(wrong));
  const within = visible(cloud).filter(({ at }) => {
    const day = dayOf(at);
    return day >= (from ?? '').slice(0, 10) && (to === null || day <= to.slice(0, 10));
  });
  return success(
    cloud,
    within.map((entry) => activityReply(cloud, entry)),
  );
}

function visible({ activities, behaviour, now }: CloudState): readonly ActivityRecord[] {
  const until = now().getTime() - behaviour.durations.activity;
  return activities.filter(({ at }) => at.getTime() <= until);
}

function activityReply({ organization }: CloudState, entry: ActivityRecord): Json {
  const { at, serviceId, ...rest } = entry;
  return {
    ...rest,
    createdAt: at.toISOString(),
    organizationId: organization.id,
    ...(serviceId === null ? {} : { serviceId }),
  };
}
