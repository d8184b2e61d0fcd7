//! Sentences about places.

use crate::testing::{Rig, on_shards};

fn sicily(rig: &mut Rig) {
    rig.check("GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania", ":2");
}

#[test]
fn places_are_added_and_told() {
    on_shards(|rig| {
        sicily(rig);
        rig.check("GEOADD Sicily NX 1 1 Palermo 12.758489 38.788135 edge", ":1");
        rig.check("GEOADD Sicily XX CH 12.8 38.7 edge 1 1 none", ":1");
        rig.check("GEODIST Sicily Palermo Catania", "$166274.1516");
        rig.check("GEODIST Sicily Palermo Catania km", "$166.2742");
        rig.check("GEODIST Sicily Palermo Catania MI", "$103.3182");
        rig.check("GEODIST Sicily Palermo none", "nil");
        rig.check("GEODIST none Palermo Catania", "nil");
        rig.check("GEODIST Sicily a b inch", "-ERR unsupported unit provided. please use M, KM, FT, MI");
        rig.check("GEOHASH Sicily Palermo none Catania", "[$sqc8b49rny0 nil $sqdtr74hyu0]");
        rig.check("GEOPOS Sicily Palermo none", "[[$13.36138933897018433 $38.11555639549629859] nil]");
        rig.check("GEOPOS none a", "[nil]");
        rig.check("ZSCORE Sicily Catania", "$3479447370796909");
    });
}

#[test]
fn what_is_no_place_is_refused() {
    on_shards(|rig| {
        rig.check("GEOADD g 200 0 a", "-ERR invalid longitude,latitude pair 200.000000,0.000000");
        rig.check("GEOADD g x 0 a", "-ERR value is not a valid float");
        rig.check("GEOADD g NX XX 0 0 a", "-ERR syntax error");
        rig.check("GEOADD g 0 0 a 1", "-ERR syntax error");
        rig.check("EXISTS g", ":0");
        rig.check("SET s x", "+OK");
        for line in
            ["GEOADD s 0 0 a", "GEOPOS s a", "GEORADIUS s 0 0 1 m", "GEOSEARCH s FROMLONLAT 0 0 BYRADIUS 1 m"]
        {
            rig.check(line, "-WRONGTYPE Operation against a key holding the wrong kind of value");
        }
    });
}

#[test]
fn areas_are_searched() {
    on_shards(|rig| {
        sicily(rig);
        rig.check("GEORADIUS Sicily 15 37 200 km ASC", "[$Catania $Palermo]");
        rig.check(
            "GEORADIUS Sicily 15 37 200 km WITHDIST DESC",
            "[[$Palermo $190.4424] [$Catania $56.4413]]",
        );
        rig.check("GEORADIUS_RO Sicily 15 37 100 km WITHHASH", "[[$Catania :3479447370796909]]");
        rig.check("GEORADIUSBYMEMBER Sicily Palermo 170 km COUNT 1", "[$Palermo]");
        rig.check("GEORADIUSBYMEMBER_RO Sicily Palermo 170 km DESC", "[$Catania $Palermo]");
        rig.check("GEORADIUSBYMEMBER Sicily none 170 km", "-ERR could not decode requested zset member");
        rig.check("GEOSEARCH Sicily FROMMEMBER Palermo BYBOX 400 400 km ASC", "[$Palermo $Catania]");
        rig.check("GEOSEARCH Sicily FROMLONLAT 15 37 BYBOX 100 200 km", "[$Catania]");
        rig.check("GEOSEARCH none FROMMEMBER a BYRADIUS 1 m", "[]");
        rig.check(
            "GEOSEARCH Sicily BYRADIUS 1 m ASC DESC",
            "-ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH",
        );
        rig.check(
            "GEOSEARCH Sicily FROMLONLAT 0 0 ASC DESC",
            "-ERR exactly one of BYRADIUS and BYBOX can be specified for GEOSEARCH",
        );
        // Said again, the last one holds; two ways of saying it are none.
        rig.check("GEOSEARCH Sicily FROMLONLAT 15 37 BYBOX 400 400 km BYBOX 1 1 km", "[]");
        rig.check("GEOSEARCH Sicily FROMMEMBER Catania FROMMEMBER Palermo BYRADIUS 1 km", "[$Palermo]");
        rig.check("GEOSEARCH Sicily FROMMEMBER Palermo BYBOX 1 1 km BYRADIUS 1 km", "-ERR syntax error");
        // A member that is missing is told of as soon as it is read.
        let missing = "-ERR could not decode requested zset member";
        rig.check("GEOSEARCH Sicily FROMMEMBER none FROMLONLAT 15 37 BYRADIUS 1 km", missing);
        rig.check("GEORADIUSBYMEMBER Sicily none x km", missing);
        rig.check("GEOSEARCH none FROMMEMBER a FROMLONLAT 15 37 BYRADIUS 1 km", "-ERR syntax error");
        rig.check("GEORADIUS Sicily 15 37 200 km ANY", "-ERR the ANY argument requires COUNT argument");
        rig.check("GEORADIUS Sicily 15 37 200 km COUNT 0", "-ERR COUNT must be > 0");
        rig.check("GEORADIUS Sicily 15 37 -1 km", "-ERR radius cannot be negative");
        rig.check("GEORADIUS_RO Sicily 15 37 200 km STORE x", "-ERR syntax error");
    });
}

#[test]
fn results_are_stored_anywhere() {
    on_shards(|rig| {
        sicily(rig);
        rig.check("GEORADIUS Sicily 15 37 200 km STORE points", ":2");
        rig.check("ZRANGE points 0 -1", "[$Palermo $Catania]");
        rig.check("GEORADIUS Sicily 15 37 200 km STOREDIST points", ":2");
        rig.check("ZRANGE points 0 -1", "[$Catania $Palermo]");
        rig.check("GEOSEARCHSTORE points Sicily FROMLONLAT 15 37 BYRADIUS 100 km STOREDIST", ":1");
        rig.check("ZRANGE points 0 -1", "[$Catania]");
        rig.check("GEORADIUSBYMEMBER Sicily Palermo 1 km STORE points STOREDIST other", ":1");
        rig.check("ZRANGE other 0 -1 WITHSCORES", "[$Palermo $0]");
        rig.check("GEOSEARCHSTORE points Sicily FROMLONLAT 0 0 BYRADIUS 1 km", ":0");
        rig.check("EXISTS points", ":0");
        rig.check("GEOSEARCHSTORE points none FROMLONLAT 0 0 BYRADIUS 1 km", ":0");
        rig.check(
            "GEOSEARCHSTORE points Sicily FROMMEMBER none BYRADIUS 1 km",
            "-ERR could not decode requested zset member",
        );
        rig.check(
            "GEORADIUS Sicily 15 37 200 km WITHDIST STORE points",
            "-ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options",
        );
        rig.check("SET s x", "+OK");
        rig.check(
            "GEOSEARCHSTORE points s FROMLONLAT 0 0 BYRADIUS 1 km",
            "-WRONGTYPE Operation against a key holding the wrong kind of value",
        );
    });
}

/// Every place in an area is found, and no other, wherever it lies: against a look at all of them.
#[test]
fn a_search_finds_what_a_look_at_all_places_finds() {
    use super::area::{Area, Shape};
    use super::sphere::{LATITUDE_MAX, Place};
    let mut random = crate::context::Random::new(9);
    let mut draw = move |max: f64| (random.below(2_000_001) as f64 / 1_000_000.0 - 1.0) * max;
    for round in 0..400 {
        let mut place = |near: Option<Place>| match near {
            None => Place { longitude: draw(180.0), latitude: draw(LATITUDE_MAX) },
            Some(near) => Place {
                longitude: (near.longitude + draw(2.0)).clamp(-180.0, 180.0),
                latitude: (near.latitude + draw(2.0)).clamp(-LATITUDE_MAX, LATITUDE_MAX),
            },
        };
        let middle = place(None);
        // Redis finds nothing beyond a pole or the other side of the date line either: stay off them.
        if middle.latitude.abs() > 70.0 || middle.longitude.abs() > 150.0 {
            continue;
        }
        let places: Vec<Place> = (0..300).map(|_| Place::of_score(place(Some(middle)).score())).collect();
        let size = 1000.0 * f64::from(round % 200 + 1);
        let shape = match round % 2 {
            0 => Shape::Circle { radius: size },
            _ => Shape::Box { width: size, height: size * 2.0 },
        };
        let area = Area { middle, shape };
        let cells = area.cells();
        for place in places {
            let score = place.score();
            let covered =
                cells.iter().filter(|cell| cell.scores().0 <= score && score < cell.scores().1).count();
            assert!(covered <= 1, "cells do not overlap");
            assert!(area.distance(place).is_none() || covered == 1, "{place:?} of {area:?}");
        }
    }
}
