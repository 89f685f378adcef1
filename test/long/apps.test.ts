import { addAppTests } from '../projects/app-tests.ts';
import { suite } from '../support/suite.ts';

const test = suite('projects with more than graphs, on the other lines');
addAppTests(test, 'long');
test.run();
