import type { ListedCalibration } from '../../schemas/calibration.ts';
import type { Job } from '../../schemas/job.ts';
import { devicePath } from '../client/device-path.ts';
import { useCall } from '../client/use-call.ts';
import { numberText } from '../parts/calibration-names.ts';
import { ageOf } from '../parts/calibration-steps.ts';
import { linkTo } from '../ui/address.ts';
import { Time } from '../ui/basics.tsx';
import { texts } from '../ui/texts.ts';

const { calibration: words } = texts;

/** Numbers in the line: the device's page has all. */
const maxNumbers = 4;

interface Props {
  readonly job: Pick<Job, 'calibration' | 'start_timestamp'>;
  readonly deviceType: string;
}

/**
 * The state of the machine when it ran a job. Nothing of a device that has never reported any, and
 * of a job that has not run.
 */
export function JobCalibration({ job: { calibration: number, start_timestamp: started }, deviceType }: Props) {
  const path = devicePath(deviceType, '/calibrations');
  const found = useCall<ListedCalibration>(number === null ? null : `${path}/${number}`);
  const others = useCall<ListedCalibration[]>(number === null && started !== null ? path : null, {
    query: { limit: 1 },
  });
  const calibration = found.answer?.data;
  if (calibration === undefined) {
    return (others.answer?.data.length ?? 0) > 0 ? <p class="aside">{words.none}</p> : null;
  }
  const numbers = Object.entries(calibration.numbers).slice(0, maxNumbers);
  const isCut = Object.keys(calibration.numbers).length > maxNumbers;
  return (
    <p class="aside">
      <a href={linkTo(['devices', deviceType])}>{words.calibrated}</a> {ageOf(calibration, started)} (
      <Time time={calibration.valid_from} />
      ): <bdi>{numbers.map(([name, value]) => numberText(name, value)).join(', ')}</bdi>
      {isCut && ' …'}
    </p>
  );
}
