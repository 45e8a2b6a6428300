-- Tables of a database with version 0.1.0: packed data, a model, two configurations, a run of two
-- iterations, predictions; and in "answers" what the functions of 0.1.0 said of them.
-- pg_dump -n public --no-owner --no-comments --no-privileges, without its settings.
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TABLE public.answers (
    leaderboard text[],
    curves bigint,
    "row" numeric[],
    loss numeric,
    visits bigint
);

CREATE TABLE public.configs (
    mst_key integer NOT NULL,
    model_id integer NOT NULL,
    compile_params character varying,
    fit_params character varying
);

CREATE SEQUENCE public.configs_mst_key_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.configs_mst_key_seq OWNED BY public.configs.mst_key;

CREATE TABLE public.configs_summary (
    model_arch_table character varying,
    object_table character varying
);

CREATE TABLE public.models (
    model_id integer NOT NULL,
    model_arch json NOT NULL,
    model_weights bytea,
    name text,
    description text
);
ALTER TABLE ONLY public.models ALTER COLUMN model_weights SET STORAGE EXTERNAL;

CREATE SEQUENCE public.models_model_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.models_model_id_seq OWNED BY public.models.model_id;

CREATE TABLE public.packed (
    partition_id integer NOT NULL,
    buffer_id integer NOT NULL,
    n integer NOT NULL,
    x bytea NOT NULL,
    y bytea NOT NULL,
    x_shape integer[] NOT NULL,
    y_shape integer[] NOT NULL,
    checksum bytea NOT NULL
);
ALTER TABLE ONLY public.packed ALTER COLUMN x SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.packed ALTER COLUMN y SET STORAGE EXTERNAL;

CREATE TABLE public.packed_summary (
    source_table text,
    output_table text,
    dependent_varname text[],
    independent_varname text[],
    dependent_vartype text[],
    y_class_values integer[],
    buffer_size integer,
    normalizing_const real,
    num_classes integer[],
    distribution_rules text,
    __internal_gpu_config__ text,
    independent_vartype text[],
    independent_type text,
    independent_shape integer[],
    label_kind text,
    label_type text,
    label_shape integer[],
    n_rows bigint,
    partitions integer,
    starts integer[],
    seed bigint,
    packed_bytes bigint,
    checksum text,
    training_table text,
    format_version integer
);

CREATE TABLE public.packed_validation (
    partition_id integer NOT NULL,
    buffer_id integer NOT NULL,
    n integer NOT NULL,
    x bytea NOT NULL,
    y bytea NOT NULL,
    x_shape integer[] NOT NULL,
    y_shape integer[] NOT NULL,
    checksum bytea NOT NULL
);
ALTER TABLE ONLY public.packed_validation ALTER COLUMN x SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.packed_validation ALTER COLUMN y SET STORAGE EXTERNAL;

CREATE TABLE public.packed_validation_summary (
    source_table text,
    output_table text,
    dependent_varname text[],
    independent_varname text[],
    dependent_vartype text[],
    y_class_values integer[],
    buffer_size integer,
    normalizing_const real,
    num_classes integer[],
    distribution_rules text,
    __internal_gpu_config__ text,
    independent_vartype text[],
    independent_type text,
    independent_shape integer[],
    label_kind text,
    label_type text,
    label_shape integer[],
    n_rows bigint,
    partitions integer,
    starts integer[],
    seed bigint,
    packed_bytes bigint,
    checksum text,
    training_table text,
    format_version integer
);

CREATE TABLE public.points (
    id integer,
    x real[],
    y integer
);

CREATE TABLE public.predicted (
    id integer,
    class_name text,
    class_value text,
    prob double precision,
    predicted_y integer
);

CREATE TABLE public.run (
    mst_key integer NOT NULL,
    model_weights bytea,
    model_arch json
);
ALTER TABLE ONLY public.run ALTER COLUMN model_weights SET STORAGE EXTERNAL;

CREATE TABLE public.run_info (
    mst_key integer NOT NULL,
    model_id integer,
    compile_params text,
    fit_params text,
    model_type text,
    model_size double precision,
    metrics_elapsed_time double precision[],
    metrics_type text[],
    loss_type text,
    training_metrics_final double precision,
    training_loss_final double precision,
    training_metrics double precision[],
    training_loss double precision[],
    validation_metrics_final double precision,
    validation_loss_final double precision,
    validation_metrics double precision[],
    validation_loss double precision[],
    metrics_iters integer[],
    training_metrics_all double precision[],
    validation_metrics_all double precision[],
    status text,
    error text,
    error_detail text,
    iterations integer,
    seconds_training double precision,
    seconds_evaluating double precision,
    seconds_waiting double precision,
    examples_per_second double precision,
    parameters bigint,
    state_digest text,
    best_iteration integer,
    learning_rate double precision
);

CREATE TABLE public.run_state (
    mst_key integer NOT NULL,
    part integer NOT NULL,
    state bytea
);
ALTER TABLE ONLY public.run_state ALTER COLUMN state SET STORAGE EXTERNAL;

CREATE TABLE public.run_summary (
    source_table text,
    validation_table text,
    model text,
    model_info text,
    dependent_varname text[],
    independent_varname text[],
    model_arch_table text,
    model_selection_table text,
    object_table text,
    num_iterations integer,
    metrics_compute_frequency integer,
    warm_start boolean,
    name text,
    description text,
    start_training_time timestamp with time zone,
    end_training_time timestamp with time zone,
    madlib_version text,
    num_classes integer[],
    y_class_values integer[],
    dependent_vartype text[],
    normalizing_const real,
    metrics_iters integer[],
    seed bigint,
    threads integer,
    "precision" text,
    training_metrics text,
    numerics_class text,
    seconds double precision,
    seconds_busy double precision,
    models_trained integer,
    models_failed integer,
    best_mst_key integer,
    best_metric text,
    best_value double precision,
    source_checksum text,
    validation_checksum text,
    training_rows bigint,
    validation_rows bigint,
    independent_vartype text[],
    independent_type text,
    independent_shape integer[],
    label_kind text,
    label_type text,
    label_shape integer[],
    version text
);

ALTER TABLE ONLY public.configs ALTER COLUMN mst_key SET DEFAULT nextval('public.configs_mst_key_seq'::regclass);

ALTER TABLE ONLY public.models ALTER COLUMN model_id SET DEFAULT nextval('public.models_model_id_seq'::regclass);

COPY public.answers (leaderboard, curves, "row", loss, visits) FROM stdin;
{"(1,done,2,6)","(2,done,2,6)"}	16	{0.3511,0.6489}	0.1286	40
\.

COPY public.configs (mst_key, model_id, compile_params, fit_params) FROM stdin;
1	1	loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']	batch_size=8
2	1	loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']	batch_size=16
\.

COPY public.configs_summary (model_arch_table, object_table) FROM stdin;
public.models	\N
\.

COPY public.models (model_id, model_arch, model_weights, name, description) FROM stdin;
1	{"class_name": "Sequential", "config": {"name": "s", "layers": [\n  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},\n  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}	\N	\N	\N
\.

COPY public.packed (partition_id, buffer_id, n, x, y, x_shape, y_shape, checksum) FROM stdin;
0	0	8	\\x00000000000000400000000000000040000000000000803f000000000000803f000000000000803f000000000000803f000000000000803f000000000000803f	\\x0000000000000000	{8,2}	{8}	\\xde55ed122b87f4ae8dd7bd531b0cb7d5
1	1	8	\\x000000000000803f0000803f000000000000803f0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000	\\x0001010000000000	{8,2}	{8}	\\x343d63dc794a553a0315d2e0ed835220
2	2	7	\\x00000000000000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f	\\x00010101010101	{7,2}	{7}	\\xaccf6a530e35c9e5ce5248ba848c6313
3	3	7	\\x0000803f0000803f0000803f000000400000803f000000400000803f000000400000803f000000400000803f000000400000803f00000040	\\x01010101010101	{7,2}	{7}	\\x15fec501fb0c5a93d34a85ec314b219b
\.

COPY public.packed_summary (source_table, output_table, dependent_varname, independent_varname, dependent_vartype, y_class_values, buffer_size, normalizing_const, num_classes, distribution_rules, __internal_gpu_config__, independent_vartype, independent_type, independent_shape, label_kind, label_type, label_shape, n_rows, partitions, starts, seed, packed_bytes, checksum, training_table, format_version) FROM stdin;
points	packed	{y}	{x}	{integer}	{0,1}	8	1	{2}	all_segments	all_segments	{real[]}	float32	{2}	class	uint8	{}	30	4	{0,1,2,3}	0	270	fcd342f31b07a47d655ac638aba79e80	\N	1
\.

COPY public.packed_validation (partition_id, buffer_id, n, x, y, x_shape, y_shape, checksum) FROM stdin;
0	0	3	\\x000000000000004000000000000000400000000000000040	\\x000000	{3,2}	{3}	\\x424883c309425f6bb2e9cb50819c6b7a
1	1	3	\\x000000000000004000000000000000400000803f00000000	\\x000001	{3,2}	{3}	\\xd38c076b4ab83f620b511b080127c858
2	2	2	\\x0000803f000000000000803f00000000	\\x0101	{2,2}	{2}	\\xfa2765912f0c109668dc73f4f751cfe8
3	3	2	\\x0000803f000000000000803f00000000	\\x0101	{2,2}	{2}	\\x704961a173393420bd9b3ecc8255c4aa
\.

COPY public.packed_validation_summary (source_table, output_table, dependent_varname, independent_varname, dependent_vartype, y_class_values, buffer_size, normalizing_const, num_classes, distribution_rules, __internal_gpu_config__, independent_vartype, independent_type, independent_shape, label_kind, label_type, label_shape, n_rows, partitions, starts, seed, packed_bytes, checksum, training_table, format_version) FROM stdin;
points	packed_validation	{y}	{x}	{integer}	{0,1}	3	1	{2}	all_segments	all_segments	{real[]}	float32	{2}	class	uint8	{}	10	4	{0,1,2,3}	0	90	176d85b43d60a59dda00d083dabba334	packed	1
\.

COPY public.points (id, x, y) FROM stdin;
1	{1,1}	1
2	{0,2}	0
3	{1,0}	1
4	{0,1}	0
5	{1,2}	1
6	{0,0}	0
7	{1,1}	1
8	{0,2}	0
9	{1,0}	1
10	{0,1}	0
11	{1,2}	1
12	{0,0}	0
13	{1,1}	1
14	{0,2}	0
15	{1,0}	1
16	{0,1}	0
17	{1,2}	1
18	{0,0}	0
19	{1,1}	1
20	{0,2}	0
21	{1,0}	1
22	{0,1}	0
23	{1,2}	1
24	{0,0}	0
25	{1,1}	1
26	{0,2}	0
27	{1,0}	1
28	{0,1}	0
29	{1,2}	1
30	{0,0}	0
31	{1,1}	1
32	{0,2}	0
33	{1,0}	1
34	{0,1}	0
35	{1,2}	1
36	{0,0}	0
37	{1,1}	1
38	{0,2}	0
39	{1,0}	1
40	{0,1}	0
\.

COPY public.predicted (id, class_name, class_value, prob, predicted_y) FROM stdin;
1	y	1	0.8173798322677612	1
2	y	0	0.8444780707359314	0
3	y	1	0.9155353307723999	1
4	y	0	0.6915661692619324	0
5	y	1	0.6489015817642212	1
6	y	1	0.5192477107048035	1
7	y	1	0.8173798322677612	1
8	y	0	0.8444780707359314	0
9	y	1	0.9155353307723999	1
10	y	0	0.6915661692619324	0
11	y	1	0.6489015817642212	1
12	y	1	0.5192477107048035	1
13	y	1	0.8173798322677612	1
14	y	0	0.8444780707359314	0
15	y	1	0.9155353307723999	1
16	y	0	0.6915661692619324	0
17	y	1	0.6489015817642212	1
18	y	1	0.5192477107048035	1
19	y	1	0.8173798322677612	1
20	y	0	0.8444780707359314	0
21	y	1	0.9155353307723999	1
22	y	0	0.6915661692619324	0
23	y	1	0.6489015817642212	1
24	y	1	0.5192477107048035	1
25	y	1	0.8173798322677612	1
26	y	0	0.8444780707359314	0
27	y	1	0.9155353307723999	1
28	y	0	0.6915661692619324	0
29	y	1	0.6489015817642212	1
30	y	1	0.5192477107048035	1
31	y	1	0.8173798322677612	1
32	y	0	0.8444780707359314	0
33	y	1	0.9155353307723999	1
34	y	0	0.6915661692619324	0
35	y	1	0.6489015817642212	1
36	y	1	0.5192477107048035	1
37	y	1	0.8173798322677612	1
38	y	0	0.8444780707359314	0
39	y	1	0.9155353307723999	1
40	y	0	0.6915661692619324	0
\.

COPY public.run (mst_key, model_weights, model_arch) FROM stdin;
1	\\x3ccb72bf36caad3f2f154f3f1ec19abd50c11dbd57c11d3d	{"class_name": "Sequential", "config": {"name": "s", "layers": [\n  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},\n  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}
2	\\x984871bfe208ad3f70e4543f323bc9bde8fba6bce3fba63c	{"class_name": "Sequential", "config": {"name": "s", "layers": [\n  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},\n  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}
\.

COPY public.run_info (mst_key, model_id, compile_params, fit_params, model_type, model_size, metrics_elapsed_time, metrics_type, loss_type, training_metrics_final, training_loss_final, training_metrics, training_loss, validation_metrics_final, validation_loss_final, validation_metrics, validation_loss, metrics_iters, training_metrics_all, validation_metrics_all, status, error, error_detail, iterations, seconds_training, seconds_evaluating, seconds_waiting, examples_per_second, parameters, state_digest, best_iteration, learning_rate) FROM stdin;
1	1	loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']	batch_size=8	model_hopper	0.0234375	{0.021279,0.021356}	{accuracy}	categorical_crossentropy	0.8	0.38323216438293456	{0.8,0.8}	{0.5057579318682353,0.38323216438293456}	1	0.12864142656326294	{1,1}	{0.11354559659957886,0.12864142656326294}	{1,2}	{{0.8,0.8}}	{{1,1}}	done	\N	\N	2	0.000209	2.8e-05	0.021072	287702.1706640168	6	0ce03498ed05645e813d1ab30cd6e5de	\N	0.10000000149011612
2	1	loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']	batch_size=16	model_hopper	0.0234375	{0.021283,0.021362}	{accuracy}	categorical_crossentropy	0.8	0.3871464550495148	{0.8,0.8}	{0.5135704537232717,0.3871464550495148}	1	0.12135249376296997	{1,1}	{0.1105806827545166,0.12135249376296997}	{1,2}	{{0.8,0.8}}	{{1,1}}	done	\N	\N	2	3.3e-05	2.3e-05	0.02129	1791633.068806863	6	301ae4c17f11c221e3b7edef1065d481	\N	0.10000000149011612
\.

COPY public.run_state (mst_key, part, state) FROM stdin;
1	0	\\x484f505354415445010000000000000054915fbb36dc9e19692556c6bf7f03772d000000746f72636820322e31312e302c204156583531322c20667033322c20706c616e6e65642c20312074687265616403000000534744020000000000000008000000000000003c000000000000000000000002000000040000000000000001000000000000000200000000000000010000000000000006000000000000003ccb72bf36caad3f2f154f3f1ec19abd50c11dbd57c11d3d43fabf24c28ceee6d82fa8c906cf18f6
2	0	\\x484f505354415445010000000000000054915fbb36dc9e19692556c6bf7f03772d000000746f72636820322e31312e302c204156583531322c20667033322c20706c616e6e65642c20312074687265616403000000534744020000000000000008000000000000003c00000000000000000000000200000004000000000000000100000000000000020000000000000001000000000000000600000000000000984871bfe208ad3f70e4543f323bc9bde8fba6bce3fba63ccec3bde2e7d1f3b436208b7912813ef7
\.

COPY public.run_summary (source_table, validation_table, model, model_info, dependent_varname, independent_varname, model_arch_table, model_selection_table, object_table, num_iterations, metrics_compute_frequency, warm_start, name, description, start_training_time, end_training_time, madlib_version, num_classes, y_class_values, dependent_vartype, normalizing_const, metrics_iters, seed, threads, "precision", training_metrics, numerics_class, seconds, seconds_busy, models_trained, models_failed, best_mst_key, best_metric, best_value, source_checksum, validation_checksum, training_rows, validation_rows, independent_vartype, independent_type, independent_shape, label_kind, label_type, label_shape, version) FROM stdin;
packed	packed_validation	run	run_info	{y}	{x}	public.models	configs	\N	2	1	f	\N	\N	2026-11-22 05:18:21.068226+00	2026-11-22 05:18:22.566249+00	model_hopper 0.1.0	{2}	{0,1}	{integer}	1	{1,2}	0	2	fp32	final	torch 2.11.0, AVX512, fp32, planned, 1 thread	0.021544	0.000364	2	0	2	validation accuracy	1	fcd342f31b07a47d655ac638aba79e80	176d85b43d60a59dda00d083dabba334	30	10	{real[]}	float32	{2}	class	uint8	{}	0.1.0
\.

SELECT pg_catalog.setval('public.configs_mst_key_seq', 2, true);

SELECT pg_catalog.setval('public.models_model_id_seq', 1, true);

ALTER TABLE ONLY public.configs
    ADD CONSTRAINT configs_model_id_compile_params_fit_params_key UNIQUE (model_id, compile_params, fit_params);

ALTER TABLE ONLY public.configs
    ADD CONSTRAINT configs_pkey PRIMARY KEY (mst_key);

ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_pkey PRIMARY KEY (model_id);

ALTER TABLE ONLY public.run_info
    ADD CONSTRAINT run_info_pkey PRIMARY KEY (mst_key);

ALTER TABLE ONLY public.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (mst_key);

ALTER TABLE ONLY public.run_state
    ADD CONSTRAINT run_state_pkey PRIMARY KEY (mst_key, part);
