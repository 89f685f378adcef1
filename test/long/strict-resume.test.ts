import { addStrictTests } from '../projects/strict-tests.ts';
import { suite } from '../support/suite.ts';

const test = suite('strict answers on the other library lines');
addStrictTests(test, ['0.3', '0.4', '1.4']);
test.run();
