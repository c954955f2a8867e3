/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time stamps of logs. Days are counted by the civil calendar; zones other than Z and +hh:mm are not read. */
#include <stdio.h>
#include <string.h>

#include "measure/log/collect.h"

/* Days since 1970-01-01 of the proleptic Gregorian calendar. */
static double days(int year, int month, int day)
{
    const int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
    const int era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int of_year = (153 * m + 2) / 5 + day - 1;
    return (double)era * 146097 + (double)of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* n digits at *p, moved on; -1 when they are none. */
static int digits(const char **p, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        const char c = (*p)[i];
        if (c < '0' || c > '9') {
            return -1;
        }
        v = 10 * v + (c - '0');
    }
    *p += n;
    return v;
}

/* One or two digits. */
static int short_number(const char **p)
{
    const char *q = *p;
    const int two = digits(&q, 2);
    if (two >= 0) {
        *p = q;
        return two;
    }
    return digits(p, 1);
}

static bool skip(const char **p, const char *any)
{
    if (**p != '\0' && strchr(any, **p)) {
        ++*p;
        return true;
    }
    return false;
}

static bool clock_of(const char **p, double *seconds)
{
    const int h = short_number(p);
    if (h < 0 || h > 23 || !skip(p, ":")) {
        return false;
    }
    const int m = digits(p, 2);
    if (m < 0 || m > 59 || !skip(p, ":")) {
        return false;
    }
    const int s = digits(p, 2);
    if (s < 0 || s > 60) {
        return false;
    }
    double part = 0, unit = 0.1;
    if (skip(p, ".,")) {
        for (; **p >= '0' && **p <= '9'; ++*p, unit /= 10) {
            part += unit * (**p - '0');
        }
    }
    *seconds = 3600.0 * h + 60.0 * m + s + part;
    return true;
}

/* "", "Z", "+01:00", "-0500": what is to be taken from the time to get UTC. */
static bool zone(const char **p, double *seconds)
{
    *seconds = 0;
    skip(p, " ");
    if (skip(p, "Zz") || **p == '\0') {
        return **p == '\0';
    }
    const bool west = **p == '-';
    if (!skip(p, "+-")) {
        return false;
    }
    const int h = digits(p, 2);
    skip(p, ":");
    const int m = digits(p, 2);
    *seconds = (west ? -1 : 1) * (3600.0 * h + 60.0 * m);
    return h >= 0 && m >= 0 && h < 15 && m < 60 && **p == '\0';
}

static int month_of(const char *p)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (int i = 0; i < 12; i++) {
        bool same = true;
        for (int k = 0; k < 3; k++) {
            same = same && (p[k] | 0x20) == names[3 * i + k];
        }
        if (same) {
            return i + 1;
        }
    }
    return 0;
}

static bool valid(int year, int month, int day)
{
    return year >= 1970 && year < 2200 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* "Tue Jan  7 12:34:56 2025" */
static bool ctime_form(const char *p, double *seconds)
{
    const int month = strlen(p) > 8 ? month_of(p + 4) : 0;
    if (!month) {
        return false;
    }
    p += 7;
    while (skip(&p, " ")) {
    }
    const int day = short_number(&p);
    double of_day;
    if (!skip(&p, " ") || !clock_of(&p, &of_day) || !skip(&p, " ")) {
        return false;
    }
    const int year = digits(&p, 4);
    *seconds = 86400 * days(year, month, day) + of_day;
    return valid(year, month, day) && *p == '\0';
}

bool tmx_time_parse(struct tmx_span s, double *seconds)
{
    char buf[48];
    double of_day, shift;
    if (tmx_span_real(s, seconds)) {
        return true;
    }
    if (!tmx_span_copy(s, buf, sizeof buf) || !buf[0]) {
        return false;
    }
    const char *p = buf;
    if ((buf[0] | 0x20) >= 'a' && (buf[0] | 0x20) <= 'z') {
        return ctime_form(buf, seconds);
    }
    if (clock_of(&p, seconds) && *p == '\0') {
        return true;
    }
    p = buf;
    int year = digits(&p, 4), month, day;
    if (year >= 0) { /* year first */
        const bool packed = *p >= '0' && *p <= '9';
        if (!packed && !skip(&p, "/-.")) {
            return false;
        }
        month = packed ? digits(&p, 2) : short_number(&p);
        if (!packed && !skip(&p, "/-.")) {
            return false;
        }
        day = packed ? digits(&p, 2) : short_number(&p);
    } else { /* day first, with points: 7.1.2025 */
        p = buf;
        day = short_number(&p);
        if (!skip(&p, ".")) {
            return false;
        }
        month = short_number(&p);
        if (!skip(&p, ".")) {
            return false;
        }
        year = digits(&p, 4);
    }
    if (!skip(&p, "T ") || !valid(year, month, day)) {
        return false;
    }
    while (skip(&p, " ")) {
    }
    if (!clock_of(&p, &of_day) || !zone(&p, &shift)) {
        return false;
    }
    *seconds = 86400 * days(year, month, day) + of_day - shift;
    return true;
}
